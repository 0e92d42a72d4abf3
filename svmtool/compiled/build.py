"""Compile every loop ahead of time into one shared library.  `python -m svmtool.compiled.build`

numba translates a loop to LLVM code.  A wrapper with a plain C signature (pointer and length for an array) is added,
and everything else is made internal, so that the result depends only on the C mathematics library.  The build needs a
linker but no C compiler and no Python headers.  Without a linker the object file is kept, which llvmlite can load (see
the package's docstring).

The code is compiled for x86-64-v3 (AVX2, FMA) if the building processor supports it, else for the base architecture;
the loader checks the processor at run time.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tempfile

WRAPPER = """
declare i32 @"{inner}"({types})
define {result} @svmtool_{name}({parameters}) {{
  %value = alloca {slot}
  %error = alloca ptr
  %status = call i32 @"{inner}"({arguments})
  {leave}
}}
"""


def loop_modules() -> list[str]:
    from svmtool import compiled

    names = [os.path.relpath(path, compiled.FOLDER)[: -len(".py")] for path in compiled.loop_sources()]
    return ["svmtool.compiled." + name.replace(os.sep, ".") for name in names if name.endswith("_loops")]


def wrapped_module(loop, machine):
    """Optimised LLVM module of `loop`, in which only the function with its C signature is visible."""
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

    parameters, arguments = [], ["ptr %value", "ptr %error"]
    for k, a in enumerate(loop.arguments):
        if a.endswith("[]"):  # numba's array: parent, owner, count, item size, data, shape, stride
            size = int(loop.dtypes[k][1])
            parameters += [f"ptr %p{k}", f"i64 %n{k}"]
            arguments += ["ptr null", "ptr null", f"i64 %n{k}", f"i64 {size}", f"ptr %p{k}"]
            arguments += [f"i64 %n{k}", f"i64 {size}"]
        else:
            parameters.append(f"{llvm_types[a]} %s{k}")
            arguments.append(f"{llvm_types[a]} %s{k}")
    void = loop.result == "void"
    slot = "ptr" if void else llvm_types[loop.result]
    text = WRAPPER.format(
        inner=inner, name=loop.name, slot=slot, result="void" if void else slot,
        types=", ".join(a.split()[0] for a in arguments), parameters=", ".join(parameters),
        arguments=", ".join(arguments),
        leave="ret void" if void else f"%result = load {slot}, ptr %value\n  ret {slot} %result",
    )  # fmt: skip
    module.link_in(llvm.parse_assembly(text))
    for item in [*module.functions, *module.global_variables]:
        if not item.is_declaration and item.name != "svmtool_" + loop.name:
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


def link(object_file: str, library: str) -> bool:
    """Link with the first linker found; False without one."""
    for linker in ("cc", "gcc", "clang", "ld", "ld.lld"):
        if shutil.which(linker):
            command = [linker, "-shared", "-o", library, object_file, "-lm"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode == 0:
                return True
    return False


def build(folder: str, level: str) -> str:
    """Compile all loops into `folder`; returns the path of the library (or object file)."""
    import llvmlite.binding as llvm

    from svmtool import compiled

    compiled.begin_build()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = compiled.numba_target(level) if level == "v3" else ("", "")
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic", codemodel="small"
    )
    for name in loop_modules():
        importlib.import_module(name)
    whole = llvm.parse_assembly("")
    whole.triple = llvm.get_default_triple()
    for loop in compiled.REGISTRY.values():
        whole.link_in(wrapped_module(loop, machine))
    os.makedirs(folder, exist_ok=True)
    for old in os.listdir(folder):
        if old.startswith("loops-") and old.endswith((".so", ".o")):
            os.remove(os.path.join(folder, old))
    target = os.path.join(folder, os.path.basename(compiled.library_path("so", level)))
    with tempfile.TemporaryDirectory() as scratch:
        object_file = os.path.join(scratch, "loops.o")
        with open(object_file, "wb") as f:
            f.write(machine.emit_object(whole))
        linked = os.path.join(scratch, "loops.so")
        if not link(object_file, linked):
            linked, target = object_file, target[: -len("so")] + "o"
        shutil.copyfile(linked, target + ".new")
    os.replace(target + ".new", target)
    return target


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    from svmtool.compiled import numba_target, processor_level

    level = processor_level()
    os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = numba_target(level)
    print(build(folder, level))


if __name__ == "__main__":
    main()
