"""Compile every loop ahead of time into a shared library.  `python -m svmtool.compiled.build [FOLDER] [--platform P]`

numba translates a loop to LLVM code.  A wrapper is added that reads all arguments from memory, 8 bytes each (of an
array its address and its length), and everything else is made internal, so that the result depends only on the C
mathematics library.  The build needs a linker but no C compiler and no Python headers.

By default the code is for the building processor: x86-64-v3 (AVX2, FMA) if it supports that, else the base
architecture.  `--platform` is for wheels and takes the wheel's platform tag: code for each level of that architecture,
which the loader chooses from at run time, linked by Zig (package ziglang), which links for other systems too.

Processes share the work, one for each core: numba needs about 90 s of one core for a level.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import NamedTuple


class Platform(NamedTuple):
    """What a wheel is for."""

    levels: tuple[str, ...]  # of the processor
    triple: str  # LLVM's name
    zig: str  # Zig's name, with the oldest version of the system or its C library


# By the wheels' platform tags.  On Windows nothing that Python can ask tells FMA, so that its loops are for any x86-64.
PLATFORMS = {
    "linux_x86_64": Platform(("v3", "base"), "x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.28"),
    "linux_aarch64": Platform(("base",), "aarch64-unknown-linux-gnu", "aarch64-linux-gnu.2.28"),
    "macosx_11_0_arm64": Platform(("base",), "arm64-apple-macosx11.0.0", "aarch64-macos.11.0"),
    "win_amd64": Platform(("base",), "x86_64-pc-windows-gnu", "x86_64-windows-gnu"),
}

WRAPPER = """
declare i32 @"{inner}"({types})
define {result} @svmtool_{name}(ptr %given) {{
  {loads}
  %value = alloca {slot}
  %error = alloca ptr
  %status = call i32 @"{inner}"({arguments})
  {leave}
}}
"""


def loop_modules() -> dict[str, str]:
    """Modules that declare loops, with their files."""
    from svmtool.compiled import FOLDER, loop_sources

    paths = {os.path.relpath(path, FOLDER).removesuffix(".py"): path for path in loop_sources()}
    return {"svmtool.compiled." + k.replace(os.sep, "."): path for k, path in paths.items() if k.endswith("_loops")}


def wrapped_module(loop, machine):
    """Optimised LLVM module of `loop`, in which only the wrapper is visible."""
    import llvmlite.binding as llvm
    import numba
    from numba import types

    llvm_types = {"i4": "i32", "u4": "i32", "i8": "i64", "u8": "i64", "f8": "double"}
    signature = loop.numba_types()
    dispatcher = loop.dispatcher()
    result = dispatcher.overloads[signature]
    declared = "void" if result.signature.return_type == types.none else str(result.signature.return_type)
    if declared != {"i8": "int64", "u8": "uint64", "f8": "float64", "i4": "int32"}.get(loop.result, loop.result):
        raise TypeError(f"loop {loop.name} returns {declared}, declared {loop.result}")
    inner = result.fndesc.llvm_func_name
    module = llvm.parse_assembly(dispatcher.inspect_llvm(signature))

    given, arguments = [], ["ptr %value", "ptr %error"]  # given: type and name of each 8 bytes
    for k, a in enumerate(loop.arguments):
        if a.endswith("[]"):  # numba's array: parent, owner, count, item size, data, shape, stride
            size = int(loop.dtypes[k][1])
            given += [("ptr", f"%p{k}"), ("i64", f"%n{k}")]
            arguments += ["ptr null", "ptr null", f"i64 %n{k}", f"i64 {size}", f"ptr %p{k}"]
            arguments += [f"i64 %n{k}", f"i64 {size}"]
        else:  # of shorter numbers the first bytes count, on all these processors
            given.append((llvm_types[a], f"%s{k}"))
            arguments.append(f"{llvm_types[a]} %s{k}")
    loads = [
        f"%a{at} = getelementptr i64, ptr %given, i64 {at}\n  {name} = load {kind}, ptr %a{at}"
        for at, (kind, name) in enumerate(given)
    ]
    void = loop.result == "void"
    slot = "ptr" if void else llvm_types[loop.result]
    text = WRAPPER.format(
        inner=inner, name=loop.name, slot=slot, result="void" if void else slot,
        types=", ".join(a.split()[0] for a in arguments), loads="\n  ".join(loads), arguments=", ".join(arguments),
        leave="ret void" if void else f"%result = load {slot}, ptr %value\n  ret {slot} %result",
    )  # fmt: skip
    module.link_in(llvm.parse_assembly(text))
    module.triple, module.data_layout = machine.triple, str(machine.target_data)  # those of another machine, if cross
    for item in [*module.functions, *module.global_variables]:
        if item.name == "svmtool_" + loop.name:
            if "windows" in machine.triple:
                item.storage_class = "dllexport"
        elif not item.is_declaration:
            item.linkage = "internal"
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    foreign = sorted(
        f.name for f in module.functions
        if f.is_declaration and f.name.startswith(("NRT_", "Py", "_Py", "numba_"))
    )  # fmt: skip
    if foreign:
        raise TypeError(f"loop {loop.name} needs Python at run time ({', '.join(foreign)}): numba {numba.__version__}")
    return module


def link(object_file: str, library: str, platform: str | None) -> None:
    """Link with the first linker found, for a wheel with Zig or a distribution's SVMTOOL_LINKER; else OSError."""
    why = "no linker is installed (cc, gcc, clang, ld or ld.lld)"
    linkers = [[name] for name in ("cc", "gcc", "clang", "ld", "ld.lld") if shutil.which(name)]
    if platform:
        own = os.environ.get("SVMTOOL_LINKER")
        linkers = [own.split() if own else [sys.executable, "-m", "ziglang", "cc", "-target", PLATFORMS[platform].zig]]
    named = [f"-Wl,-install_name,@rpath/{os.path.basename(library)}"] if (platform or "").startswith("macosx") else []
    for linker in linkers:
        command = [*linker, "-shared", "-s", *named, "-o", library, object_file, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return
        why = done.stderr.strip()
    raise OSError(f"linking for {platform or 'this machine'} failed: {why}")


def target_machine(level: str, platform: str | None):
    """LLVM's machine for a processor level; `platform` None: this one."""
    import llvmlite.binding as llvm

    from svmtool.compiled import numba_target

    if platform:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        target = llvm.Target.from_triple(PLATFORMS[platform].triple)
    else:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_default_triple()
    cpu, features = numba_target(level) if level == "v3" else ("", "")
    return target.create_target_machine(cpu=cpu, features=features, opt=3, reloc="pic", codemodel="small")


def begin_worker(level: str) -> None:
    """Prepare a process to compile for a level: numba reads its target when it is imported."""
    from svmtool.compiled import numba_target

    os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = numba_target(level)


def compile_loops(name: str, level: str, platform: str | None) -> list[bytes]:
    """LLVM bitcode of each loop that module `name` declares."""
    from svmtool.compiled import REGISTRY

    importlib.import_module(name)
    loops = [loop for loop in REGISTRY.values() if loop.function.__module__ == name]
    loops += [variant for loop in loops for variant in loop.variants.values()]
    target = target_machine(level, platform)
    return [wrapped_module(loop, target).as_bitcode() for loop in loops]


def compile_all(level: str, platform: str | None) -> list[bytes]:
    """LLVM bitcode of all loops in a fixed order, compiled by one process for each core; prints progress."""
    from svmtool.compiled.threads import available

    what = f"svmtool: compiling loops for {platform or 'this machine'}, level {level}"
    started, shown, found = time.monotonic(), 0.0, {}
    modules = loop_modules()
    workers = ProcessPoolExecutor(
        available(), multiprocessing.get_context("spawn"), initializer=begin_worker, initargs=(level,)
    )
    with workers:
        print(f"{what}: {available()} processes, some 90 s of processor time", flush=True)
        largest_first = sorted(modules, key=lambda name: -os.path.getsize(modules[name]))
        waiting = {workers.submit(compile_loops, name, level, platform): name for name in largest_first}
        for done in as_completed(waiting):
            found[waiting[done]] = done.result()
            seconds = time.monotonic() - started
            if seconds >= shown + 10 or len(found) == len(modules):
                print(f"{what}: {len(found)} of {len(modules)} files, {seconds:.0f} s", flush=True)
                shown = seconds
    return [bitcode for name in modules for bitcode in found[name]]


def build(folder: str, platform: str | None = None) -> list[str]:
    """Compile all loops into `folder`; returns the paths of the libraries."""
    import llvmlite.binding as llvm

    from svmtool.compiled import library_path, processor_level

    os.makedirs(folder, exist_ok=True)
    made = []
    for level in PLATFORMS[platform].levels if platform else [processor_level()]:
        target = target_machine(level, platform)
        whole = llvm.parse_assembly("")
        whole.triple, whole.data_layout = target.triple, str(target.target_data)
        for bitcode in compile_all(level, platform):
            whole.link_in(llvm.parse_bitcode(bitcode))
        path = os.path.join(folder, os.path.basename(library_path(level)))
        with tempfile.TemporaryDirectory() as scratch:
            object_file, linked = os.path.join(scratch, "loops.o"), os.path.join(scratch, "loops.so")
            with open(object_file, "wb") as f:
                f.write(target.emit_object(whole))
            link(object_file, linked, platform)
            shutil.copyfile(linked, path + ".new")
        os.replace(path + ".new", path)
        made.append(path)
    remove_others(folder, made)
    return made


def remove_others(folder: str, made: list[str]) -> None:
    """Remove the loops of former sources."""
    for old in os.listdir(folder):
        if old.startswith("loops-") and os.path.join(folder, old) not in made:
            os.remove(os.path.join(folder, old))


def current(folder: str) -> list[str]:
    """The library in `folder` for this machine, if it was compiled after the last change of its sources."""
    from svmtool.compiled import FOLDER, library_path, loop_sources

    sources = [*loop_sources(), os.path.join(FOLDER, "__init__.py")]
    made = os.path.join(folder, os.path.basename(library_path()))
    changed = max(map(os.path.getmtime, sources))
    return [made] if os.path.exists(made) and os.path.getmtime(made) > changed else []


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m svmtool.compiled.build", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", default=os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--platform", choices=PLATFORMS, help="for a wheel: all levels of its architecture")
    parser.add_argument("--if-needed", action="store_true", help="do nothing if the loops are newer than their sources")
    given = parser.parse_args()
    made = current(given.folder) if given.if_needed else []
    if made:
        remove_others(given.folder, made)
        return
    os.environ["SVMTOOL_LOOPS"] = "build"  # in the processes that compile
    print(*build(given.folder, given.platform), sep="\n")


if __name__ == "__main__":
    main()
