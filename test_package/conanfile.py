import os
import shutil

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

    @property
    def programs(self):
        chosen = {"consumer": True, "compiled_consumer": self.compiled, "mpi_consumer": shutil.which("mpicxx") is not None}
        return [name for name, there in chosen.items() if there]

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # leaves no file beside the sources
        toolchain.cache_variables["CONSUME_COMPILED"] = self.compiled
        toolchain.cache_variables["CONSUME_MPI"] = "mpi_consumer" in self.programs
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            for program in self.programs:
                self.run(os.path.join(self.cpp.build.bindir, program), env="conanrun")
