import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout


class AttnTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        self.requires(self.tested_reference_str)

    @property
    def compiled(self):
        return bool(self.dependencies["attn"].options.compiled)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # leaves no file beside the sources
        toolchain.cache_variables["CONSUME_COMPILED"] = self.compiled
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            for program in ("consumer", "compiled_consumer") if self.compiled else ("consumer",):
                self.run(os.path.join(self.cpp.build.bindir, program), env="conanrun")
