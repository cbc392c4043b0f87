import SwiftSyntax

/// Imports of modules that do not exist here, and what is used of them.
extension PortVisitor {
    func portImport(_ node: ImportDeclSyntax) {
        guard let module = node.path.first?.name.plainText else { return }
        let range = node.span
        if imports[module] == nil { imports[module] = range }
        if AppleModules.isAppleOnly(module) {
            missingModules.append((module, range))
        } else if node.importKindSpecifier == nil, node.path.count > 1, Self.umbrellas.contains(module) {
            rewrite(node.path.span, to: module, as: .moduleImport)
        }
    }

    /// Modules that have submodules on Apple's platforms and none here.
    private static let umbrellas: Set<String> = ["CoreData", "Foundation", "Dispatch"]

    /// Makes imports of missing modules conditional, and adds those of the modules that have the names here.
    func completeImports() {
        let hasFoundation = imports["Foundation"] != nil || imports["CoreData"] != nil
        let usesCoreData = !Self.namesHere.isDisjoint(with: usedNames.keys) || hasChange(of: .selector)
        for (number, (module, range)) in missingModules.enumerated() {
            let declaration = text.text(range)
            // Frameworks bring Foundation along.
            let isLacking = number == 0 && !hasFoundation
            let substitute = isLacking ? (usesCoreData ? "import CoreData" : "import Foundation") : ""
            let other = substitute.isEmpty ? "" : "\n#else\n\(substitute)"
            // A copy does without the import, so that each line stays where it is.
            add(
                SourceEdit(
                    range: range, written: "#if canImport(\(module))\n\(declaration)\(other)\n#endif",
                    compiled: text.aligned(substitute, to: range)),
                as: .conditionalImport, before: declaration, after: "#if canImport(\(module))")
        }
        if imports["CoreData"] == nil, usesCoreData, let foundation = imports["Foundation"] {
            let end = foundation.upperBound
            add(
                SourceEdit(range: end..<end, written: "\nimport CoreData", compiled: "; import CoreData"),
                as: .addedImport, before: "", after: "import CoreData")
        }
    }

    /// What Foundation has on Apple's platforms, and `CoreData` supplies or completes here.
    private static let namesHere: Set<String> = [
        "NSComparisonPredicate", "NSCompoundPredicate", "NSExpression", "NSFastEnumeration", "NSPredicate",
        "NSSecureUnarchiveFromDataTransformer", "NSSelectorFromString", "NSSortDescriptor", "NSStringFromSelector",
        "Selector", "ValueTransformer", "autoreleasepool",
    ]

    func use(_ name: String, at offset: Int) {
        if usedNames[name] == nil { usedNames[name] = offset }
    }

    /// Tells which names of missing modules the source uses; those for user interfaces leave it out.
    func reportUses() {
        let uses = missingModules.map { module, _ in
            let used = usedNames.filter { AppleModules.owns(module, $0.key) && !index.typeNames.contains($0.key) }
            return (module: module, names: used.sorted { $0.value < $1.value })
        }
        let interfaces = uses.filter { AppleModules.userInterface.contains($0.module) && !$0.names.isEmpty }
        for (module, names) in interfaces { leaveOut(for: module, because: names[0].key, at: names[0].value) }
        guard interfaces.isEmpty else { return }
        for (module, names) in uses {
            for (name, offset) in names {
                remark(
                    "'\(name)' needs \(module), which does not exist here", at: offset,
                    hint: "declare it for this platform in a file of your own, or put its uses in "
                        + "#if canImport(\(module))")
            }
        }
    }
}
