import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.2"


class AttnConan(ConanFile):
    name = "attn"
    description = "Header-only C++20 library in which a translation model is a type"
    license = "MIT"
    topics = ("machine-translation", "transformer", "attention", "deep-learning", "header-only")
    settings = "os", "arch", "compiler", "build_type"
    options = {"compiled": [True, False]}
    default_options = {"compiled": False}
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"
    no_copy_source = True

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "include/attn/version.hpp"))
        self.version = re.search(r'ATTN_VERSION "([^"]+)"', text).group(1)

    def requirements(self):
        self.requires("eigen/[>=3.4 <6]")
        self.requires("nlohmann_json/[>=3.10 <4]")

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        if not self.info.options.compiled:
            self.info.clear()  # headers alone are the same for everybody

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in "TESTS", "TOOLS", "EXAMPLES", "BENCHMARKS":
            toolchain.cache_variables[f"ATTN_BUILD_{part}"] = False
        toolchain.cache_variables["ATTN_COMPILED"] = bool(self.options.compiled)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        if self.options.compiled:
            cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = ["lib"] if self.options.compiled else []
        # Consumers get the attn-config.cmake that `cmake --install` ships, not one that Conan makes up.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "attn")]
