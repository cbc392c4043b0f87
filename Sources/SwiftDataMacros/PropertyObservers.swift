import SwiftSyntax

/// The `willSet` and `didSet` of a persisted property, whose accessors the macro replaces: the setter runs their
/// bodies.
struct PropertyObservers {
    private struct Observer {
        /// The name of the old or new value in the body.
        let parameter: String
        let body: String
        /// Whether the body names the value, or the declaration gives it a name.
        let usesParameter: Bool

        init?(_ accessor: AccessorDeclSyntax, _ standardName: String, of property: String) {
            guard let block = accessor.body else { return nil }
            parameter = accessor.parameters?.name.text ?? standardName
            body = SelfQualifier.qualified(block.statements, property)
            usesParameter =
                accessor.parameters != nil
                || block.statements.tokens(viewMode: .sourceAccurate).contains {
                    $0.tokenKind == .identifier(standardName)
                }
        }

        /// A closure, so that a `return` in the body ends only the body.
        func call(with value: String) -> String {
            let (argument, name) = usesParameter ? (value, parameter) : ("()", "_")
            return "    SwiftData._observe(\(argument)) { \(name) in\n\(body)\n    }"
        }
    }

    private let willSet: Observer?
    private let didSet: Observer?

    /// `nil` for a property that has none.
    init?(_ block: AccessorBlockSyntax?, of property: String) {
        guard case .accessors(let accessors)? = block?.accessors else { return nil }
        func observer(_ keyword: Keyword, _ name: String) -> Observer? {
            accessors.first { $0.accessorSpecifier.tokenKind == .keyword(keyword) }.flatMap {
                Observer($0, name, of: property)
            }
        }
        willSet = observer(.willSet, "newValue")
        didSet = observer(.didSet, "oldValue")
        if willSet == nil, didSet == nil { return nil }
    }

    /// The statements of the setter.
    ///
    /// As in Swift, an observer that sets its own property calls no observer again, and the old value is read before
    /// `willSet`, and only if `didSet` uses it. Unlike in Swift, a function that an observer calls also sets the
    /// property without observers.
    func setter(writing write: String, isRunning flag: String, reading read: String) -> String {
        var lines = [
            "    func _$write() {\n\(write)\n    }", "    guard !\(flag) else { return _$write() }",
            "    \(flag) = true", "    defer { \(flag) = false }",
        ]
        if didSet?.usesParameter == true {
            lines.append("    let _$oldValue = SwiftData._value(\(read), like: newValue)")
        }
        if let willSet { lines.append(willSet.call(with: "newValue")) }
        lines.append("    _$write()")
        if let didSet { lines.append(didSet.call(with: "_$oldValue")) }
        return lines.joined(separator: "\n")
    }
}

/// Writes `self.` before the property's own name: in its setter, the compiler warns of the bare name.
private final class SelfQualifier: SyntaxRewriter {
    private let name: String

    private init(_ name: String) {
        self.name = name
        super.init(viewMode: .sourceAccurate)
    }

    /// The statements as text; unchanged if they declare the name themselves.
    static func qualified(_ statements: CodeBlockItemListSyntax, _ name: String) -> String {
        let finder = DeclarationFinder(name)
        finder.walk(statements)
        return finder.isFound ? statements.description : SelfQualifier(name).rewrite(statements).description
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax {
        guard node.argumentNames == nil, node.baseName.unescaped == name else { return ExprSyntax(node) }
        var member = MemberAccessExprSyntax(
            base: DeclReferenceExprSyntax(baseName: .keyword(.`self`)), declName: node.with(\.leadingTrivia, []))
        member.leadingTrivia = node.leadingTrivia
        return ExprSyntax(member)
    }

    override func visit(_ node: MemberAccessExprSyntax) -> ExprSyntax {
        guard let base = node.base else { return ExprSyntax(node) }
        return ExprSyntax(node.with(\.base, rewrite(base).as(ExprSyntax.self) ?? base))
    }

    override func visit(_ node: KeyPathPropertyComponentSyntax) -> KeyPathPropertyComponentSyntax { node }
}

/// Finds a local variable, parameter or capture of a name.
private final class DeclarationFinder: SyntaxVisitor {
    private let name: String
    private(set) var isFound = false

    init(_ name: String) {
        self.name = name
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind { note(node.identifier) }

    override func visit(_ node: ClosureShorthandParameterSyntax) -> SyntaxVisitorContinueKind { note(node.name) }

    override func visit(_ node: ClosureParameterSyntax) -> SyntaxVisitorContinueKind {
        note(node.secondName ?? node.firstName)
    }

    override func visit(_ node: FunctionParameterSyntax) -> SyntaxVisitorContinueKind {
        note(node.secondName ?? node.firstName)
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind { note(node.name) }

    override func visit(_ node: ClosureCaptureSyntax) -> SyntaxVisitorContinueKind {
        // A capture hides the property in its closure.
        for token in node.tokens(viewMode: .sourceAccurate) { _ = note(token) }
        return .visitChildren
    }

    private func note(_ token: TokenSyntax) -> SyntaxVisitorContinueKind {
        if token.unescaped == name { isFound = true }
        return .visitChildren
    }
}
