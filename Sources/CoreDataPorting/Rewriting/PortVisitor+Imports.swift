import SwiftSyntax

/// Imports of modules that do not exist here, and what is used of them.
extension PortVisitor {
    func portImport(_ node: ImportDeclSyntax) {
        guard let module = node.path.first?.name.plainText else { return }
        let range = node.span
        if AppleModules.isAppleOnly(module) {
            if !missingModules.contains(module) { missingModules.append(module) }
            let declaration = text.text(range)
            let wrapped = "#if canImport(\(module))\n\(declaration)\n#endif"
            // A copy does without the import, so that each line stays where it is.
            add(
                SourceEdit(range: range, written: wrapped, compiled: text.blank(range)), as: .conditionalImport,
                before: declaration, after: "#if canImport(\(module))")
        } else if node.importKindSpecifier == nil, node.path.count > 1, Self.umbrellas.contains(module) {
            rewrite(node.path.span, to: module, as: .moduleImport)
        }
    }

    /// Modules that have submodules on Apple's platforms and none here.
    private static let umbrellas: Set<String> = ["CoreData", "Foundation", "Dispatch"]

    func use(_ name: String, at offset: Int) {
        if usedNames[name] == nil { usedNames[name] = offset }
    }

    /// Tells which names of missing modules the source uses; those for user interfaces leave it out.
    func reportUses() {
        for module in missingModules {
            let used = usedNames.filter { AppleModules.owns(module, $0.key) && !index.typeNames.contains($0.key) }
                .sorted { $0.value < $1.value }
            guard let first = used.first else { continue }
            if AppleModules.userInterface.contains(module) {
                leaveOut(for: module)
                remark("left out: '\(first.key)' needs \(module), which does not exist here", at: first.value)
            } else {
                for (name, offset) in used {
                    remark(
                        "'\(name)' needs \(module), which does not exist here", at: offset,
                        hint: "declare it for this platform in a file of your own, or put its uses in "
                            + "#if canImport(\(module))")
                }
            }
        }
    }
}
