import SwiftSyntax

/// A use of a name that a framework for user interfaces has.
struct InterfaceUse {
    var framework: String
    var name: String
    /// Where the name begins, in UTF-8 code units.
    var offset: Int
}

/// The declarations of a source that need a framework for user interfaces, where the rest of the source does without one.
///
///     struct Tag {
///         var name: String
///         var color: UIColor          // left out
///         func paint() { use(color) } // left out, since it uses what is left out
///     }
///     final class TagView: UIView {}  // left out, and extensions of it in this source
///
/// A type is left out where its own line needs the framework, or a case of it; else only those of its members that do.
struct InterfaceParts {
    struct Part {
        var range: Range<Int>
        /// The frameworks that the declaration needs, itself or through what it uses.
        var frameworks: Set<String>
        /// The first use of each name in it.
        var uses: [InterfaceUse]
        /// The member or type that is left out and that this one depends on, where it has no use of its own.
        var dependency: String?
    }

    let parts: [Part]
    /// The types at file level that are left out, with the frameworks that they need.
    let types: [String: Set<String>]

    /// - Returns: `nil` where nothing would be left, or a statement at file level needs a framework.
    init?(of tree: SourceFileSyntax, _ uses: [InterfaceUse]) {
        let top = Self.pieces(of: tree.statements)
        let uses = uses.sorted { $0.offset < $1.offset }
        for use in uses { guard Self.note(use, in: top) else { return nil } }
        // What it shows is a view, also where no name in it tells.
        for piece in top where piece.isPreview && !piece.isLeftOut {
            let framework = uses.first?.framework ?? "SwiftUI"
            piece.frameworks = [framework]
            piece.uses = [InterfaceUse(framework: framework, name: "#Preview", offset: piece.range.lowerBound)]
        }
        while Self.spread(top) {}
        guard top.contains(where: { !$0.isLeftOut && $0.isDeclaration }) else { return nil }
        parts = Self.leftOut(top)
        types = top.filter { $0.isLeftOut && $0.isType }.reduce(into: [:]) { types, piece in
            for name in piece.names { types[name] = piece.frameworks }
        }
    }

    /// The extensions at file level of types that another source declares and that are left out.
    init(of tree: SourceFileSyntax, extending types: [String: Set<String>]) {
        let top = Self.pieces(of: tree.statements)
        for piece in top {
            guard let name = piece.node.as(ExtensionDeclSyntax.self)?.extendedType.lastTypeName,
                let frameworks = types[name]
            else { continue }
            (piece.frameworks, piece.dependency) = (frameworks, name)
        }
        parts = Self.leftOut(top)
        self.types = [:]
    }

    /// Every type that a source declares at file level, with the frameworks that the source needs.
    static func types(in tree: SourceFileSyntax, needing frameworks: Set<String>) -> [String: Set<String>] {
        pieces(of: tree.statements).filter(\.isType).reduce(into: [:]) { types, piece in
            for name in piece.names { types[name] = frameworks }
        }
    }

    // MARK: Pieces

    /// A declaration that may be left out, or a statement at file level.
    private final class Piece {
        let range: Range<Int>
        let node: Syntax
        /// The names by which others use it.
        let names: Set<String>
        /// The type whose body it is in, by the last part of its name.
        let owner: String?
        let isDeclaration: Bool
        /// What is declared in its body, of a type or an extension.
        var members: [Piece] = []
        var frameworks: Set<String> = []
        var uses: [InterfaceUse] = []
        var dependency: String?

        var isLeftOut: Bool { !frameworks.isEmpty }
        /// Whether it is a `#Preview { … }` at file level.
        var isPreview: Bool {
            node.as(MacroExpansionExprSyntax.self)?.macroName.text == "Preview"
                || node.as(MacroExpansionDeclSyntax.self)?.macroName.text == "Preview"
        }
        var isType: Bool { node.isProtocol((any DeclGroupSyntax).self) && !node.is(ExtensionDeclSyntax.self) }

        init(_ range: Range<Int>, _ node: Syntax, names: Set<String>, owner: String?, isDeclaration: Bool = true) {
            (self.range, self.node, self.names, self.owner) = (range, node, names, owner)
            self.isDeclaration = isDeclaration
        }
    }

    private static func pieces(of items: CodeBlockItemListSyntax) -> [Piece] {
        items.flatMap { item -> [Piece] in
            guard case .decl(let declaration) = item.item else {
                let piece = Piece(item.span, Syntax(item.item), names: [], owner: nil, isDeclaration: false)
                guard piece.isPreview else { return [piece] }
                return [Piece(piece.range, piece.node, names: [], owner: nil)]
            }
            if declaration.is(ImportDeclSyntax.self) { return [] }
            guard let condition = declaration.as(IfConfigDeclSyntax.self) else {
                return [piece(declaration, item.span, owner: nil)]
            }
            return ConditionalCompilation.compiledClauses(of: condition).flatMap { clause -> [Piece] in
                guard case .statements(let items) = clause.elements else { return [] }
                return pieces(of: items)
            }
        }
    }

    private static func pieces(of items: MemberBlockItemListSyntax, owner: String?) -> [Piece] {
        items.flatMap { item -> [Piece] in
            // A switch would miss a case that is left out: it counts as the type's own.
            if item.decl.is(EnumCaseDeclSyntax.self) { return [] }
            guard let condition = item.decl.as(IfConfigDeclSyntax.self) else {
                return [piece(item.decl, item.span, owner: owner)]
            }
            return ConditionalCompilation.compiledClauses(of: condition).flatMap { clause -> [Piece] in
                guard case .decls(let items) = clause.elements else { return [] }
                return pieces(of: items, owner: owner)
            }
        }
    }

    private static func piece(_ declaration: DeclSyntax, _ range: Range<Int>, owner: String?) -> Piece {
        let node = Syntax(declaration)
        guard let group = node.asProtocol((any DeclGroupSyntax).self) else {
            return Piece(range, node, names: names(of: declaration), owner: owner)
        }
        let extended = node.as(ExtensionDeclSyntax.self)?.extendedType.lastTypeName
        let own = node.asProtocol((any NamedDeclSyntax).self)?.name.plainText
        let piece = Piece(range, node, names: own.map { [$0] } ?? [], owner: owner)
        piece.members = pieces(of: group.memberBlock.members, owner: extended ?? own)
        return piece
    }

    private static func names(of declaration: DeclSyntax) -> Set<String> {
        if let variable = declaration.as(VariableDeclSyntax.self) {
            let patterns = variable.bindings.compactMap { $0.pattern.as(IdentifierPatternSyntax.self) }
            return Set(patterns.map(\.identifier.plainText))
        }
        return declaration.as(FunctionDeclSyntax.self).map { [$0.name.plainText] } ?? []
    }

    // MARK: What is left out

    /// - Returns: whether the use is in a declaration that can be left out, or in none at all.
    private static func note(_ use: InterfaceUse, in pieces: [Piece]) -> Bool {
        guard let piece = pieces.first(where: { $0.range.contains(use.offset) }) else { return true }
        guard piece.isDeclaration else { return false }
        if piece.members.contains(where: { $0.range.contains(use.offset) }) { return note(use, in: piece.members) }
        piece.frameworks.insert(use.framework)
        if !piece.uses.contains(where: { $0.name == use.name }) { piece.uses.append(use) }
        return true
    }

    /// Leaves out what uses members that are left out, and extensions of types that are.
    ///
    /// - Returns: whether anything was.
    private static func spread(_ top: [Piece]) -> Bool {
        let all = everything(in: top)
        let gone = all.filter(\.isLeftOut)
        var hasChanged = false
        for piece in all where !piece.isLeftOut {
            let extended = piece.node.as(ExtensionDeclSyntax.self)?.extendedType.lastTypeName
            let cause = gone.first { other in
                if let extended { return other.isType && other.names.contains(extended) }
                guard piece.members.isEmpty, !other.isType, let owner = piece.owner, owner == other.owner else {
                    return false
                }
                return !other.names.isDisjoint(with: references(of: piece))
            }
            guard let cause else { continue }
            piece.frameworks = cause.frameworks
            piece.dependency = cause.names.sorted().first
            hasChanged = true
        }
        return hasChanged
    }

    private static func everything(in pieces: [Piece]) -> [Piece] {
        pieces.flatMap { [$0] + everything(in: $0.members) }
    }

    private static func references(of piece: Piece) -> Set<String> {
        let visitor = MemberReferenceVisitor(viewMode: .sourceAccurate)
        visitor.walk(piece.node)
        return visitor.references
    }

    private static func leftOut(_ pieces: [Piece]) -> [Part] {
        pieces.flatMap { piece -> [Part] in
            guard piece.isLeftOut else { return leftOut(piece.members) }
            // What is in a type that is left out is told with it.
            let inside = everything(in: piece.members)
            var uses = piece.uses
            for use in inside.flatMap(\.uses) where !uses.contains(where: { $0.name == use.name }) { uses.append(use) }
            return [
                Part(
                    range: piece.range, frameworks: inside.reduce(piece.frameworks) { $0.union($1.frameworks) },
                    uses: uses.sorted { $0.offset < $1.offset }, dependency: piece.dependency)
            ]
        }
    }
}

/// Collects the names in a declaration that may be those of members of its type: after `self.`, or bare and not of a parameter or
/// variable of its own.
private final class MemberReferenceVisitor: SyntaxVisitor {
    private var own: Set<String> = []
    private var bare: Set<String> = []
    private var local: Set<String> = []

    var references: Set<String> { own.union(bare.subtracting(local)) }

    override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
        guard let base = node.base else { return .skipChildren }
        if base.trimmedDescription == "self" { own.insert(node.declName.baseName.plainText) }
        walk(base)
        return .skipChildren
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        bare.insert(node.baseName.plainText)
        return .visitChildren
    }

    override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
        local.insert(node.identifier.plainText)
        return .visitChildren
    }

    override func visit(_ node: FunctionParameterSyntax) -> SyntaxVisitorContinueKind {
        local.insert((node.secondName ?? node.firstName).plainText)
        return .visitChildren
    }

    override func visit(_ node: ClosureParameterSyntax) -> SyntaxVisitorContinueKind {
        local.insert((node.secondName ?? node.firstName).plainText)
        return .visitChildren
    }

    override func visit(_ node: ClosureShorthandParameterSyntax) -> SyntaxVisitorContinueKind {
        local.insert(node.name.plainText)
        return .visitChildren
    }
}
