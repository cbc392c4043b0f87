import SwiftSyntax

/// Keeps the names that `@objc(Name)` gives to archived classes, because archives from Apple's platforms contain them.
extension PortVisitor {
    func listArchiveName(of node: ClassDeclSyntax) {
        let name = node.name.plainText
        guard let given = node.attributes.attribute(named: "objc")?.objectiveCName, index.isArchived(name),
            node.genericParameterClause == nil, let path = Syntax(node).typePath
        else { return }
        let list = """
            enum _ArchiveNamesOf\(path.replacing(".", with: "_")) {
                final class _ArchiveNames: ManagedArchiveNames {
                    override class var classes: [String: AnyClass] { ["\(given)": \(path).self] }
                }
            }
            """
        generate(list)
        let end = text.bytes.count
        let text =
            "\n#if !canImport(ObjectiveC)\n// Archives have for the class the name that they have on Apple's platforms.\n\(list)\n#endif\n"
        add(
            SourceEdit(range: end..<end, written: text, compiled: nil), as: .archiveName, before: "",
            after: "\"\(given)\" as the name of \(path) in archives")
    }
}
