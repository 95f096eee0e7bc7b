#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates clients of the sample realm from its description, compiles them, and runs one scenario in each.

The descriptions are checked by openapi-spec-validator and by vacuum with the rules of openapi/lint.yaml first. What is generated
is in a temporary folder and goes with it.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))
from harness import ROOT, Server  # noqa: E402

# What vacuum reports while it resolves references, whatever its rules say. openapi/lint.md has the reason.
RESOLVED = {"circular-references"}
STEPS = ["list", "page", "filter", "expand", "create", "patch", "conflict", "delete", "batch", "transaction", "poll", "export", "import"]


def run(command, folder, seconds=1200):
    """The exit status and the output of a program."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, errors="replace")
        return done.returncode, done.stdout + done.stderr
    except FileNotFoundError as error:
        return 127, str(error)
    except subprocess.TimeoutExpired:
        return 124, "it took too long"


class Client:
    """One language: its generator, what compiles the client, and how the scenario is run."""

    def __init__(self, name, generator, options, needs, compile, scenario, misspelt=None, steps=STEPS):
        self.name, self.generator, self.options, self.needs = name, generator, options, needs
        self.compile, self.scenario, self.misspelt, self.steps = compile, scenario, misspelt, steps


def compile_python(folder):
    status, output = run([sys.executable, "-m", "compileall", "-q", "client/store_client"], folder)
    if status == 0:
        shutil.copy(f"{HERE}/scenario.py", folder)
        status, output = run([sys.executable, "-c", "import sys; sys.path.insert(0, 'client'); import store_client; store_client.CategoryApi"], folder)
    return status, output


def scenario_python(folder, url):
    return run(["env", f"PYTHONPATH={folder}/client", sys.executable, "scenario.py", url], folder)


def compile_plain(folder):
    shutil.copy(f"{HERE}/scenario_plain.py", folder)
    return run([sys.executable, "-m", "compileall", "-q", "plain"], folder)


def scenario_plain(folder, url):
    return run(["env", f"PYTHONPATH={folder}", sys.executable, "scenario_plain.py", url], folder)


# TypeScript 4.8 takes what the generator writes but for an index that it calls an implicit any.
TSC = ["tsc", "--target", "es2022", "--module", "commonjs", "--lib", "es2022,dom,dom.iterable", "--strict", "--noImplicitAny", "false", "--skipLibCheck"]


def compile_typescript(folder):
    shutil.copy(f"{HERE}/scenario.ts", folder)
    return run([*TSC, "--outDir", "out", "scenario.ts"], folder)


def scenario_typescript(folder, url):
    return run(["node", "out/scenario.js", url], folder)


def misspelt_typescript(folder):
    shutil.copy(f"{HERE}/misspelt.ts", folder)
    status, output = run([*TSC, "--noEmit", "misspelt.ts"], folder)
    return status != 0 and all(f"'{word}'" in output for word in ("nmae", "cty", "sortOrdr", "titel")), output


PACKAGE = """// swift-tools-version: 6.0
import PackageDescription
let package = Package(name: "Scenario", platforms: [.macOS(.v14)], dependencies: [.package(path: "client")], targets: [
    .executableTarget(name: "Scenario", dependencies: [.product(name: "OpenAPIClient", package: "client")]),
    .executableTarget(name: "Misspelt", dependencies: [.product(name: "OpenAPIClient", package: "client")]),
])
"""


def compile_swift(folder):
    with open(f"{folder}/Package.swift", "w") as file:
        file.write(PACKAGE)
    for target, name in (("Scenario", "scenario.swift"), ("Misspelt", "misspelt.swift")):
        os.makedirs(f"{folder}/Sources/{target}", exist_ok=True)
        shutil.copy(f"{HERE}/{name}", f"{folder}/Sources/{target}/{'main' if target == 'Misspelt' else target}.swift")
    return run(["swift", "build", "--product", "Scenario"], folder)


def scenario_swift(folder, url):
    return run([".build/debug/Scenario", url], folder)


def misspelt_swift(folder):
    status, output = run(["swift", "build", "--product", "Misspelt"], folder)
    return status != 0 and all(word in output for word in ("member 'nmae'", "member 'cty'", "(have 'id:name:sortOrdr:'", "'titel")), output


def compile_go(folder):
    os.makedirs(f"{folder}/client/scenario")
    shutil.copy(f"{HERE}/scenario.go", f"{folder}/client/scenario/main.go")
    shutil.rmtree(f"{folder}/client/test", ignore_errors=True)
    with open(f"{folder}/client/go.mod", "w") as file:
        file.write("module example.org/store\n")
    return run(["env", "GOFLAGS=-mod=mod", "GOPROXY=off", "go", "build", "-o", "../go-scenario", "./scenario"], f"{folder}/client")


def scenario_go(folder, url):
    return run(["./go-scenario", url], folder)


def jar():
    """The generator, a jar that has Jackson inside."""
    return f"{generator_folder()}/openapi-generator.jar"


# Debian: libjakarta-annotation-api-java, libgoogle-gson-java, libnewtonsoft-json5.0-cil.
ANNOTATIONS = "/usr/share/java/jakarta-annotation-api.jar"
GSON = "/usr/share/java/gson.jar"
NEWTONSOFT = "/usr/lib/cli/Newtonsoft.Json-5.0/Newtonsoft.Json.dll"


def sources(folder, end):
    """The source files of a client, without its tests."""
    found = [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names if name.endswith(end)]
    return [one for one in found if "/test/" not in one and ".Test/" not in one]


def compile_java(folder):
    files = sources(f"{folder}/client/src/main", ".java") + [f"{HERE}/Scenario.java"]
    return run(["javac", "-nowarn", "-proc:none", "-cp", f"{jar()}:{ANNOTATIONS}", "-d", "out", *files], folder)


def scenario_java(folder, url):
    return run(["java", "-cp", f"out:{jar()}:{ANNOTATIONS}", "Scenario", url], folder)


def kotlin_jars():
    """The folder with the compiler of Kotlin, which the kernel of Kotlin for notebooks has inside."""
    import run_kotlin_kernel
    return os.path.join(os.path.dirname(run_kotlin_kernel.__file__), "jars")


def kotlin_library():
    return next(os.path.join(kotlin_jars(), name) for name in os.listdir(kotlin_jars()) if name.startswith("kotlin-stdlib-"))


def compile_kotlin(folder):
    files = sources(f"{folder}/client/src/main", ".kt") + [f"{HERE}/okhttp.kt", f"{HERE}/scenario.kt"]
    compiler = ["java", "-cp", f"{kotlin_jars()}/*", "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-nowarn"]
    return run([*compiler, "-cp", f"{kotlin_library()}:{GSON}", "-d", "scenario.jar", *files], folder)


def scenario_kotlin(folder, url):
    return run(["java", "-cp", f"scenario.jar:{kotlin_library()}:{GSON}", "ScenarioKt", url], folder)


def compile_csharp(folder):
    files = sources(f"{folder}/client/src/Store", ".cs") + [f"{HERE}/stand-ins.cs", f"{HERE}/scenario.cs"]
    names = ["System.Net.Http", "System.Web", "System.Runtime.Serialization", "System.ComponentModel.DataAnnotations"]
    shutil.copy(NEWTONSOFT, folder)
    return run(["mcs", "-nologo", "-langversion:latest", "-out:Scenario.exe", f"-r:{NEWTONSOFT}", *[f"-r:{one}" for one in names], *files], folder)


def scenario_csharp(folder, url):
    return run(["mono", "Scenario.exe", url], folder)


# openapi-python-client, in the virtual environment of the tests.
PLAIN = os.path.join(os.path.dirname(sys.executable), "openapi-python-client")

CLIENTS = [
    Client("python", "python", ["--additional-properties=packageName=store_client"], "python3", compile_python, scenario_python),
    # Of another project, whose clients check the type of what is sent and received more strictly.
    Client("plain", None, [], PLAIN, compile_plain, scenario_plain, steps=["list", "filter", "schema", "links", "create", "patch", "conflict", "delete", "key"]),
    Client("typescript", "typescript-fetch", ["--name-mappings", "delete=deleteObject"], "tsc", compile_typescript, scenario_typescript, misspelt_typescript),
    # The mappings give names to what the generator would rename with a warning.
    Client("swift", "swift6", ["--model-name-mappings", "type=Kind,range=RangeText,class=ClassName"], "swift", compile_swift, scenario_swift, misspelt_swift),
    # Without the option a client refuses members that a later server adds.
    Client("go", "go", ["--additional-properties=disallowAdditionalPropertiesIfNotPresent=false,packageName=store"], "go", compile_go, scenario_go),
    # One request object in place of twenty parameters in a row. A method `wait` would be that of all objects.
    Client("java", "java", ["--library", "native", "--model-name-mappings", "class=ClassName", "--parameter-name-mappings", "wait=waitSeconds",
        "--additional-properties=useJakartaEe=true,openApiNullable=false,documentationProvider=none,useSingleRequestParameter=true"],
        "javac", compile_java, scenario_java),
    Client("kotlin", "kotlin", ["--library", "jvm-okhttp4", "--additional-properties=serializationLibrary=gson"], "java", compile_kotlin, scenario_kotlin),
    # The last language that Debian's compiler knows.
    Client("csharp", "csharp", ["--library", "httpclient", "--additional-properties=targetFramework=net48,packageName=Store"], "mcs", compile_csharp, scenario_csharp),
]


def generate(client, document, folder):
    if client.generator is None:
        return run([PLAIN, "generate", "--path", document, "--output-path", f"{folder}/plain", "--meta", "none"], folder)
    return run(["java", "-jar", jar(), "generate", "-i", document, "-o", f"{folder}/client", "-g", client.generator, *client.options], folder)


def generator_folder():
    import openapi_generator_cli
    return os.path.dirname(openapi_generator_cli.__file__)


def errors(output):
    """The lines of a compiler that name errors; the end of its output when none does."""
    lines = [line for line in output.splitlines() if "error" in line]
    return "\n".join(lines[:40]) or output[-4000:]


def missing(client):
    """What a client cannot be compiled without and is not there; None when nothing is missing."""
    import importlib.util
    files = {"java": [ANNOTATIONS], "kotlin": [GSON], "csharp": [NEWTONSOFT]}.get(client.name, [])
    if not shutil.which(client.needs):
        return client.needs
    if client.name == "kotlin" and not importlib.util.find_spec("run_kotlin_kernel"):
        return "kotlin-jupyter-kernel"
    return next((one for one in files if not os.path.exists(one)), None)


def tried(client, document, url, folder):
    """One row of the table, and what went wrong. A warning counts once: a slow generator repeats it."""
    os.makedirs(folder)
    status, output = generate(client, document, folder)
    row = {"client": client.name, "warnings": len(set(re.findall(r"(?:WARN|ERROR) .*", output))), "compiles": "–", "scenario": "–", "misspelt": "–"}
    if status:
        return row, f"cannot be generated:\n{output[-2000:]}"
    if missing(client):
        row["compiles"] = f"not tried: {missing(client)} is missing"
        return row, None
    status, output = client.compile(folder)
    row["compiles"] = "no" if status else "yes"
    if status:
        return row, f"does not compile:\n{errors(output)}"
    status, output = client.scenario(folder, url)
    found = re.findall(r"^ok (\w+)$", output, re.M)
    row["scenario"] = f"{len(found)}/{len(client.steps)}"
    if status or found != client.steps:
        return row, f"scenario:\n{output[-3000:]}"
    if client.misspelt:
        isFound, output = client.misspelt(folder)
        row["misspelt"] = "found" if isFound else "not found"
        if not isFound:
            return row, f"misspelt names:\n{output[-2000:]}"
    return row, None


def lacks_only_null(finding):
    """Whether a finding is that null, beside a reference, has no example: vacuum takes the example null for none."""
    return finding["code"] == "oas3-missing-example" and finding["path"][-2:] == ["anyOf", "1"]


def lint(name, document):
    """What the tools have to say about a description."""
    status, output = run([sys.executable, "-m", "openapi_spec_validator", document], ROOT)
    problems = [] if status == 0 else [output]
    import vacuum
    program = os.path.join(os.path.dirname(vacuum.__file__), "lib", "vacuum")
    report = document + ".report.json"
    status, output = run([program, "spectral-report", "-n", "-g", "120", "-r", f"{ROOT}/openapi/lint.yaml", document, report], ROOT)
    if status or not os.path.exists(report):
        return problems + [output]
    with open(report) as file:
        problems += [f"{one['code']}: {one['message']} {one['path']}" for one in json.load(file) or [] if one["code"] not in RESOLVED and not lacks_only_null(one)]
    print(f"{name}: {len(problems)} findings", flush=True)
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--clients", default="python,plain,typescript,swift", help="names with commas, or all, or none")
    options = parser.parse_args()
    names = [one.name for one in CLIENTS] if options.clients == "all" else options.clients.split(",")
    failures = []
    with tempfile.TemporaryDirectory(prefix="clients-") as folder:
        server = os.path.abspath(options.server)
        subprocess.run([server, "import", f"{ROOT}/demo/store.ndjson.gz", f"{folder}/store.realm"], check=True, capture_output=True)
        with Server(server, f"{folder}/store.realm") as serving:
            url = serving.url
            documents = {"interface": "/v1/openapi.json", "realm": "/v1/realms/store/openapi.json", "simple": "/v1/realms/store/openapi.json?profile=simple"}
            for name, path in documents.items():
                with urllib.request.urlopen(url + path) as answer, open(f"{folder}/{name}.json", "wb") as file:
                    file.write(answer.read())
                failures += [f"{name}: {one}" for one in lint(name, f"{folder}/{name}.json")]
            rows = []
            for client in CLIENTS:
                if client.name in names:
                    row, failure = tried(client, f"{folder}/realm.json", url, f"{folder}/{client.name}")
                    rows.append(row)
                    print(f"{client.name}: {row}", flush=True)
                    if failure:
                        failures.append(f"{client.name} {failure}")
    if rows:
        print("| client | warnings | compiles | scenario | misspelt names |\n|---|---|---|---|---|")
        for row in rows:
            print("| " + " | ".join(str(row[one]) for one in ("client", "warnings", "compiles", "scenario", "misspelt")) + " |")
    for failure in failures:
        print("FAILED", failure)
    print(f"{3 + len(rows) - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
