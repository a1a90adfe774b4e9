#!/usr/bin/env python3
"""tools/mutate.py [--flips N] [--seed N] FILE...: flips constants and operators of the given files of engine/, one at
a time, builds and runs the tests, the engine's first, and prints the flips that none notices. A copy of the sources is
flipped (build/mutants), never the working tree. --flips: so many of each file, chosen evenly (default: all)."""

import argparse
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutants"
ENGINE_TESTS, NATIVE_TESTS = "build/native/engine_tests", "build/native/native_tests"
SECONDS = 120  # of processor time: a flipped loop may not end
# The tests that take most of the time come last.
SLOW = ["report_unusable_test", "hostile_input_test", "search_layouts_test", "search_questions_test",
        "findings_remedies_test", "log_reading_test", "launch_fixed_point_test"]
QUICK = "".join(f"~[#{name}]" for name in SLOW)
# What begins the names of the test files of a floor, where it is not the floor's name.
NAMED = {
    "advice": ["findings", "search", "launch", "log", "diagnose", "recognise"],
    "report": ["report", "formula", "presets"],
}
GROUND = ["ground", "line", "units", "formats"]

# What is flipped, and into what. Only code is: comments, texts, includes and template brackets are left out.
FLIPS = [
    (r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])", lambda t: "0" if float(t) == 1 else "1" if float(t) == 0 else
     f"({t} * 2)"),
    (r" \+ ", lambda t: " - "),
    (r" - ", lambda t: " + "),
    (r" \* ", lambda t: " / "),
    (r" / ", lambda t: " * "),
    (r" && ", lambda t: " || "),
    (r" \|\| ", lambda t: " && "),
    (r" == ", lambda t: " != "),
    (r" != ", lambda t: " == "),
    (r" < ", lambda t: " >= "),
    (r" > ", lambda t: " <= "),
    (r" <= ", lambda t: " > "),
    (r" >= ", lambda t: " < "),
    (r"(?<=[ (])!(?=\w)", lambda t: ""),
    (r"\bstd::min\b", lambda t: "std::max"),
    (r"\bstd::max\b", lambda t: "std::min"),
    (r"\bstd::ceil\b", lambda t: "std::floor"),
    (r"\bstd::floor\b", lambda t: "std::ceil"),
    (r"\btimes\((?=\")", lambda t: "over("),
    (r"\bover\((?=\")", lambda t: "times("),
    (r"\btrue\b", lambda t: "false"),
    (r"\bfalse\b", lambda t: "true"),
]


def blanked(source):
    """The source with everything that is not to be flipped as blanks."""
    pattern = r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])+\'|//[^\n]*|^ *#[^\n]*|^template[^\n]*|^using [^\n]*'
    keep_ends = lambda match: re.sub(r"[^\n\"]", " ", match.group())
    return re.sub(pattern, keep_ends, source, flags=re.MULTILINE)


def flips_of(source):
    """(begin, end, replacement) of every possible flip, in order."""
    code, found = blanked(source), []
    for pattern, flipped in FLIPS:
        found += [(m.start(), m.end(), flipped(m.group())) for m in re.finditer(pattern, code)]
    return sorted(found)


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def run(command):
    return subprocess.run(command, cwd=COPY, capture_output=True, preexec_fn=limited).returncode == 0


def build(target):
    return run(["cmake", "--build", "build/native", "--target", target])


def prepare():
    """Copies the sources, with their times: what is built already is not built again."""
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in sorted({file.split("/")[0] for file in files}):
        source, target = ROOT / name, COPY / name
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("node_modules"))
        else:
            shutil.copy2(source, target)
    linker = "-fuse-ld=gold" if shutil.which("ld.gold") else ""
    run(["cmake", "--preset", "native", f"-DCMAKE_EXE_LINKER_FLAGS={linker}"])
    if not build("engine_tests") or not passes("*") or not native_passes():
        sys.exit("mutate: the tests fail without any flip")


def tests_of(path):
    """The test files of the file's floor, as Catch2's tags: they notice most, in little time."""
    parts = pathlib.Path(path).parts
    names = NAMED.get(parts[1], [parts[1]]) if len(parts) > 2 else GROUND
    tests = [test for name in names for test in sorted((ROOT / "tests" / "engine").glob(f"{name}_*test.cc"))]
    return ",".join(f"[#{test.stem}]" for test in tests if test.stem not in SLOW)


def passes(tests):
    return run([ENGINE_TESTS, "--abort", "--filenames-as-tags", tests])


def native_passes():
    """The measured cases and the documents, which take longer to link and to run."""
    return build("native_tests") and run([NATIVE_TESTS, "--abort"])


def try_flip(path, source, flip):
    """"noticed", "not", or "no program"."""
    begin, end, text = flip
    (COPY / path).write_text(source[:begin] + text + source[end:])
    if not build("engine_tests"):
        return "no program"
    slow = ",".join(f"[#{name}]" for name in SLOW)
    return "not" if all(map(passes, [tests_of(path), QUICK, slow])) and native_passes() else "noticed"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--flips", type=int)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("files", nargs="+")
    arguments = arguments.parse_args()
    prepare()
    for path in arguments.files:
        source = (ROOT / path).read_text()
        flips = flips_of(source)
        if arguments.flips and len(flips) > arguments.flips:
            flips = sorted(random.Random(arguments.seed).sample(flips, arguments.flips))
        counts = {"noticed": 0, "not": 0, "no program": 0}
        for flip in flips:
            result = try_flip(path, source, flip)
            counts[result] += 1
            if result == "not":
                line = source.count("\n", 0, flip[0]) + 1
                print(f"{path}:{line}: {source[flip[0]:flip[1]].strip()} -> {flip[2].strip() or 'nothing'}: "
                      f"{source.splitlines()[line - 1].strip()}", flush=True)
        (COPY / path).write_text(source)
        print(f"{path}: {counts['noticed']} noticed, {counts['not']} not, {counts['no program']} do not compile",
              flush=True)


main()
