import SwiftSyntax

/// Ports imports of missing modules, adds missing imports, and reports uses of missing modules.
extension PortVisitor {
    func portImport(_ node: ImportDeclSyntax) {
        guard let module = node.path.first?.name.plainText else { return }
        let range = node.span
        let isConditional = Syntax(node).isInConditionalCompilation
        if imports[module].map({ $0.isConditional && !isConditional }) ?? true {
            imports[module] = (range, isConditional)
        }
        if AppleModules.isAppleOnly(module), !index.presentModules.contains(module) {
            missingModules.append((module, range))
        } else if let kind = node.importKindSpecifier {
            guard node.path.count == 2, let name = node.path.last?.name.plainText else { return }
            importedNames.insert(name)
            if module == "Foundation" { portImport(node, of: name, kind: kind.text) }
        } else if node.path.count > 1, Self.umbrellas.contains(module) {
            rewrite(node.path.span, to: module, as: .moduleImport)
        }
    }

    /// Ports `import class Foundation.URLSession`, if another module has the name here.
    private func portImport(_ node: ImportDeclSyntax, of name: String, kind: String) {
        guard let part = FoundationModules.part(with: name) else { return }
        let range = node.span
        let here = text.text(range.lowerBound..<node.path.span.lowerBound) + "\(part).\(name)"
        add(
            SourceEdit(
                range: range, written: "#if canImport(\(part))\n\(here)\n#else\n\(text.text(range))\n#endif",
                compiled: text.aligned(here, to: range)),
            as: .conditionalImport, before: text.text(range), after: "import \(kind) \(part).\(name)")
    }

    /// Modules that have submodules on Apple's platforms but not here.
    private static let umbrellas: Set<String> = ["CoreData", "Foundation", "Dispatch"]

    /// Makes imports of missing modules conditional, and adds imports of the modules that provide the names here.
    func completeImports() {
        let present = index.exportedModules.union(imports.keys)
        // In tests, XCTest re-exports Foundation.
        let hasFoundation = !present.isDisjoint(with: ["Foundation", "CoreData", "XCTest"])
        let used = usedNames.keys.filter { !index.typeNames.contains($0) && !importedNames.contains($0) }
        let needsCoreData = [PortChange.Kind.selector, .archiveName].contains(where: hasChange)
        let usesCoreData = needsCoreData || used.contains(where: FoundationModules.isOfCoreData)
        let usesFoundation = used.contains(where: FoundationModules.isOfFoundation)

        var added: [String] = []
        if usesCoreData, !present.contains("CoreData") {
            added.append("CoreData")
        } else if !hasFoundation, usesFoundation || !missingModules.isEmpty {
            // Apple's frameworks re-export Foundation.
            added.append("Foundation")
        }
        let substitute = hasFoundation || missingModules.isEmpty || added.isEmpty ? nil : added.removeFirst()
        added += FoundationModules.parts.filter { part in
            !present.contains(part.module) && used.contains(where: part.names.contains)
        }.map(\.module)

        for (number, (module, range)) in missingModules.enumerated() {
            makeConditional(module, range, substitute: number == 0 ? substitute : nil)
        }
        let first = substitute == nil ? nil : missingModules.first?.range
        add(imports: added, after: first ?? anchor)
    }

    private func makeConditional(_ module: String, _ range: Range<Int>, substitute: String?) {
        let declaration = text.text(range)
        let substitute = substitute.map { "import \($0)" } ?? ""
        let other = substitute.isEmpty ? "" : "\n#else\n\(substitute)"
        // The compiled copy has no line for the import, so that each line keeps its position.
        add(
            SourceEdit(
                range: range, written: "#if canImport(\(module))\n\(declaration)\(other)\n#endif",
                compiled: text.aligned(substitute, to: range)),
            as: .conditionalImport, before: declaration, after: "#if canImport(\(module))")
    }

    /// The import after which others are inserted; the compiled copy must contain it too.
    private var anchor: Range<Int>? {
        let missing = Set(missingModules.map(\.name))
        let all = imports.filter { !missing.contains($0.key) && !$0.value.isConditional }
        let preferred = ["Foundation", "CoreData"].lazy.compactMap { all[$0]?.range }.first
        return preferred ?? all.values.map(\.range).min { $0.lowerBound < $1.lowerBound }
    }

    private func add(imports modules: [String], after anchor: Range<Int>?) {
        guard !modules.isEmpty else { return }
        let written = modules.map { module in
            FoundationModules.isPart(module)
                ? "#if canImport(\(module))\nimport \(module)\n#endif" : "import \(module)"
        }
        let compiled = modules.map { "import \($0)" }.joined(separator: "; ")
        let offset = anchor?.upperBound ?? head
        let edit =
            anchor == nil
            ? SourceEdit(
                range: offset..<offset, written: written.joined(separator: "\n") + "\n\n", compiled: compiled + "; ")
            : SourceEdit(
                range: offset..<offset, written: "\n" + written.joined(separator: "\n"), compiled: "; " + compiled)
        add(edit, as: .addedImport, before: "", after: "import \(modules[0])")
        for module in modules.dropFirst() {
            note(.addedImport, at: offset, before: "", after: "import \(module)")
        }
    }

    func use(_ name: String, at offset: Int) {
        allUses.append((name, offset))
        if usedNames[name] == nil { usedNames[name] = offset }
    }

    /// The missing modules that the source imports, and those that they re-export.
    private var importedMissingModules: [String] {
        var modules = missingModules.map(\.name)
        // SwiftUI provides a view's names; another source of the module may import it.
        if !modules.contains("SwiftUI"), usedNames.keys.contains(where: isOfSwiftDataInterface) {
            modules.append("SwiftUI")
        }
        return modules + AppleModules.broughtAlong(by: modules).subtracting(modules).sorted()
    }

    private func isOfSwiftDataInterface(_ name: String) -> Bool {
        imports["SwiftData"] != nil && AppleModules.swiftDataInterface.contains(name) && !index.typeNames.contains(name)
    }

    /// Returns whether a name in the source belongs to the missing module.
    private func owns(_ module: String, _ name: String) -> Bool {
        AppleModules.owns(module, name) || module == "SwiftUI" && isOfSwiftDataInterface(name)
    }

    /// The user interface framework of the views in the source's previews.
    var previewedFramework: String {
        missingModules.map(\.name).first(where: AppleModules.userInterface.contains) ?? "SwiftUI"
    }

    /// Every use of a name of an imported user interface framework.
    var interfaceUses: [InterfaceUse] {
        let frameworks = importedMissingModules.filter(AppleModules.userInterface.contains)
        guard !frameworks.isEmpty else { return [] }
        return allUses.compactMap { name, offset in
            guard !index.typeNames.contains(name) else { return nil }
            return frameworks.first { owns($0, name) }
                .map { InterfaceUse(framework: $0, name: name, offset: offset) }
        }
    }

    /// Reports the uses of missing modules' names; a source that uses a user interface framework is omitted.
    func reportUses() {
        let own = index.typeNames
        let uses = importedMissingModules.map { module in
            let used = usedNames.filter { owns(module, $0.key) && !own.contains($0.key) }
            return (module: module, names: used.sorted { $0.value < $1.value })
        }
        let interfaces = uses.filter { AppleModules.userInterface.contains($0.module) && !$0.names.isEmpty }
        var reasons: Set<String> = []
        for (module, names) in interfaces {
            for (name, offset) in names where reasons.insert(name).inserted {
                leaveOut(because: InterfaceUse(framework: module, name: name, offset: offset))
            }
        }
        guard interfaces.isEmpty else { return }
        for (module, names) in uses {
            for (name, offset) in names { remarkUse(of: name, in: module, at: offset, isImported: true) }
        }
        let told = Set(uses.flatMap { $0.names.map(\.key) })
        for (name, offset) in usedNames where !own.contains(name) && !told.contains(name) {
            guard let module = AppleModules.owner(ofNotImported: name), !index.presentModules.contains(module)
            else { continue }
            remarkUse(of: name, in: module, at: offset, isImported: false)
        }
        reportAbsentNames(except: told)
    }

    private func remarkUse(of name: String, in module: String, at offset: Int, isImported: Bool) {
        remark(
            isImported
                ? "'\(name)' needs \(module), which does not exist here"
                : "'\(name)' needs \(module), which is not imported and does not exist here",
            at: offset,
            hint: AbsentNames.substitute(for: name, in: module)
                ?? "declare it for this platform in a file of your own, or put its uses in #if canImport(\(module))")
    }
}
