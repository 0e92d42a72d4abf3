"""Render the conda recipe for each platform and print what a build needs.  Needs py-rattler-build (PyPI)."""

from pathlib import Path

from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

PLATFORMS = ("linux-64", "linux-aarch64", "osx-arm64")

for platform in PLATFORMS:
    recipe = Stage0Recipe.from_file(str(Path(__file__).with_name("recipe.yaml")))
    config = RenderConfig(platform=PlatformConfig(target_platform=platform))
    variants = VariantConfig({"python": ["3.10.*"], "c_compiler": ["gcc"], "c_stdlib": ["sysroot"]})
    for rendered in recipe.render(variants, config):
        package, wants = rendered.recipe.package, rendered.recipe.requirements
        print(f"{package.name} {package.version} {platform}")
        for part in ("build", "host", "run"):
            print(f"  {part}: {', '.join(map(str, getattr(wants, part)))}")
        print(f"  script: {rendered.recipe.build.script}")
