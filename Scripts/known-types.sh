#!/usr/bin/env bash
# Writes the table of the standard library's and Foundation's types from what the compiler says of its modules.
#
#     Scripts/known-types.sh [TARGET]        # TARGET: the compiler's own by default
#
# Run it after a change of the toolchain. Needs swift-symbolgraph-extract, which is beside swiftc, and python3.
set -euo pipefail
cd "$(dirname "$0")/.."

output=Sources/CoreDataManagedProperties/Resolving/KnownTypes+Table.swift
binaries=$(dirname "$(readlink -f "$(command -v swiftc)")")
target=${1:-$(swiftc -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])')}
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT

for module in Swift Foundation FoundationEssentials FoundationInternationalization; do
    "$binaries/swift-symbolgraph-extract" -module-name "$module" -target "$target" -sdk / \
        -resource-dir "$binaries/../lib/swift" -output-dir "$graphs" -minimum-access-level public
done

python3 - "$graphs" >"$graphs/table" <<'PYTHON'
import json, re, sys

print("""// Written by Scripts/known-types.sh; change that, not this.

extension KnownTypes {
    /// One declaration a line: kind, name, number of generic parameters where there are any; `alias name = type`.
    static let table: [(module: String, declarations: String)] = [""")
for module in ["Swift", "Foundation", "FoundationEssentials", "FoundationInternationalization"]:
    with open(f"{sys.argv[1]}/{module}.symbols.json") as file:
        symbols = json.load(file)["symbols"]
    lines = {}
    for symbol in symbols:
        kind = symbol["kind"]["identifier"].removeprefix("swift.")
        path = symbol["pathComponents"]
        identifier = symbol["identifier"]["precise"]
        if kind not in ("class", "struct", "enum", "protocol", "typealias"):
            continue
        if any(name.startswith("_") for name in path) or path[0] == "AttributeScopes" or "::SYNTHESIZED" in identifier:
            continue
        name = ".".join(path)
        fragments = symbol["declarationFragments"]
        if kind == "typealias":
            text = "".join(fragment["spelling"] for fragment in fragments)
            if len(path) > 2 or not re.search(r"typealias \w+ = [\w.&<>, \[\]?]+$", text):
                continue
            # Inside generic types and protocols an alias stands for what only its owner knows.
            if len(path) == 2 and "swiftGenerics" in symbol:
                continue
            lines.setdefault(name, f"alias {name} = {text.split(' = ', 1)[1]}")
        else:
            generics = sum(1 for fragment in fragments if fragment["kind"] == "genericParameter")
            lines[name] = f"{kind} {name}" + (f" {generics}" if generics else "")
    owners = {line.split()[1] for line in lines.values() if not line.startswith(("alias", "protocol"))}
    kept = [line for name, line in lines.items() if "." not in name or name.rsplit(".", 1)[0] in owners]
    print(f'        (\n            "{module}",\n            """')
    for line in sorted(kept, key=lambda line: line.split()[1]):
        print("            " + line)
    print('            """\n        ),')
print("    ]\n}")
PYTHON
mv "$graphs/table" "$output"
echo "$output: $(grep -c -E '^            (class|struct|enum|protocol|alias) ' "$output") declarations"
