import CoreDataPrimitives
import SwiftSyntax

/// A use of a user interface framework's name.
struct InterfaceUse {
    var framework: String
    var name: String
    /// The start of the name, in UTF-8 code units.
    var offset: Int

    /// The macro that shows a view in Xcode; it is not needed elsewhere.
    static let preview = "#Preview"

    /// The severity of the report: a preview needs no action.
    var severity: Diagnostic.Severity { name == Self.preview ? .note : .warning }
}

/// The declarations of a source that need a user interface framework, if the rest of the source does not.
///
///     struct Tag {
///         var name: String
///         var color: UIColor          // omitted
///         func paint() { use(color) } // omitted, since it uses an omitted member
///     }
///     final class TagView: UIView {}  // omitted, with its extensions in this source
///
/// A type is omitted if its declaration line or one of its cases needs the framework; otherwise only the members that
/// need it are omitted. A `#Preview` at file level is always omitted, since it may show a view of another source.
struct InterfaceParts {
    struct Part {
        var range: Range<Int>
        /// The frameworks that the declaration needs, directly or through its dependencies.
        var frameworks: Set<String>
        /// The first use of each name in the declaration.
        var uses: [InterfaceUse]
        /// The omitted member or type that this declaration depends on, if it has no use of its own.
        var dependency: String?
    }

    let parts: [Part]
    /// The omitted types at file level, with the frameworks that they need.
    let types: [String: Set<String>]

    /// - Parameter framework: the framework that previews need, if the source uses no other.
    /// - Returns: `nil` if nothing would remain, or if a statement at file level needs a framework.
    init?(of tree: SourceFileSyntax, _ uses: [InterfaceUse], previewing framework: String) {
        let top = Self.pieces(of: tree.statements)
        let uses = uses.sorted { $0.offset < $1.offset }
        for use in uses { guard Self.note(use, in: top) else { return nil } }
        // A preview shows a view, even if no name in it belongs to a framework.
        for piece in top where piece.isPreview && !piece.isLeftOut {
            let framework = uses.first?.framework ?? framework
            piece.frameworks = [framework]
            piece.uses = [
                InterfaceUse(framework: framework, name: InterfaceUse.preview, offset: piece.range.lowerBound)
            ]
        }
        while Self.spread(top) {}
        guard top.contains(where: { !$0.isLeftOut && $0.isDeclaration }) else { return nil }
        parts = Self.leftOut(top)
        types = top.filter { $0.isLeftOut && $0.isType }.reduce(into: [:]) { types, piece in
            for name in piece.names { types[name] = piece.frameworks }
        }
    }

    /// The extensions at file level of omitted types that another source declares.
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

    /// Returns the first `#Preview { … }` at file level that is compiled here, as a use of the framework.
    static func preview(in tree: SourceFileSyntax, needing framework: String) -> InterfaceUse? {
        pieces(of: tree.statements).first(where: \.isPreview).map {
            InterfaceUse(framework: framework, name: InterfaceUse.preview, offset: $0.range.lowerBound)
        }
    }

    /// Returns every type that a source declares at file level, with the frameworks that the source needs.
    static func types(in tree: SourceFileSyntax, needing frameworks: Set<String>) -> [String: Set<String>] {
        pieces(of: tree.statements).filter(\.isType).reduce(into: [:]) { types, piece in
            for name in piece.names { types[name] = frameworks }
        }
    }

    // MARK: Pieces

    /// A declaration that can be omitted, or a statement at file level.
    private final class Piece {
        let range: Range<Int>
        let node: Syntax
        /// The names that refer to it.
        let names: Set<String>
        /// The last part of the name of the enclosing type.
        let owner: String?
        let isDeclaration: Bool
        /// The declarations in the body of a type or an extension.
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
            // A switch would lack an omitted case: a case counts as part of its type.
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

    // MARK: Omitted declarations

    /// Assigns a use to its declaration.
    ///
    /// - Returns: whether the use is in a declaration that can be omitted, or in none.
    private static func note(_ use: InterfaceUse, in pieces: [Piece]) -> Bool {
        guard let piece = pieces.first(where: { $0.range.contains(use.offset) }) else { return true }
        guard piece.isDeclaration else { return false }
        if piece.members.contains(where: { $0.range.contains(use.offset) }) { return note(use, in: piece.members) }
        piece.frameworks.insert(use.framework)
        if !piece.uses.contains(where: { $0.name == use.name }) { piece.uses.append(use) }
        return true
    }

    /// Omits declarations that use omitted members, and extensions of omitted types.
    ///
    /// - Returns: whether anything was omitted.
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
            // Declarations in an omitted type are reported with the type.
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

/// Collects the names in a declaration that may refer to members of its type: after `self.`, or unqualified and not a
/// local parameter or variable.
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
