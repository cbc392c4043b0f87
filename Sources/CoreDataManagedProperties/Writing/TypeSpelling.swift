/// Writes canonical types as Swift source with the same meaning in any file.
struct TypeSpelling {
    let program: Program
    /// The modules that the written types need as imports.
    private(set) var modules: Set<String> = []

    init(program: Program) { self.program = program }

    mutating func text(_ type: MangledType) -> String {
        switch type {
        case .nominal(let declaration): return text(declaration)
        case .optional(let wrapped):
            if case .existential(let protocols, _) = wrapped, !protocols.isEmpty { return "(\(text(wrapped)))?" }
            return text(wrapped) + "?"
        case .bound(let declaration, let levels): return text(declaration, levels[...])
        case .tuple(let elements):
            let texts = elements.map { element in (element.label.map { $0 + ": " } ?? "") + text(element.type) }
            return "(\(texts.joined(separator: ", ")))"
        case .existential(let protocols, let isClass):
            if protocols.isEmpty { return isClass ? "AnyObject" : "Any" }
            let names = protocols.map { text($0) } + (isClass ? ["AnyObject"] : [])
            return "any " + names.joined(separator: " & ")
        }
    }

    mutating func text(_ declaration: NominalDeclaration) -> String { text(declaration, []) }

    private mutating func text(_ declaration: NominalDeclaration, _ levels: ArraySlice<[MangledType]>) -> String {
        modules.insert(declaration.module)
        let arguments = (levels.last ?? []).map { text($0) }
        let name = declaration.name + (arguments.isEmpty ? "" : "<\(arguments.joined(separator: ", "))>")
        if let parent = declaration.parent { return "\(text(parent, levels.dropLast())).\(name)" }
        let module = declaration.module
        if program.isModuleNameHidden(module) { return name }
        // Foundation re-exports the modules of its parts.
        return "\(module.hasPrefix("Foundation") ? "Foundation" : module).\(name)"
    }
}

extension MangledType {
    /// A private declaration in the type, which other files cannot spell.
    var privateDeclaration: NominalDeclaration? {
        switch self {
        case .nominal(let declaration): declaration.outermostPrivate
        case .optional(let wrapped): wrapped.privateDeclaration
        case .bound(let declaration, let levels):
            declaration.outermostPrivate ?? levels.joined().lazy.compactMap(\.privateDeclaration).first
        case .tuple(let elements): elements.lazy.compactMap(\.type.privateDeclaration).first
        case .existential(let protocols, _): protocols.lazy.compactMap(\.outermostPrivate).first
        }
    }
}

extension NominalDeclaration {
    /// The outermost private declaration: this one or an enclosing one.
    var outermostPrivate: NominalDeclaration? { discriminator != nil ? self : parent?.outermostPrivate }
}
