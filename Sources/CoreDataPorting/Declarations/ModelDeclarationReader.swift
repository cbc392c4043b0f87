import CoreDataDeclarations
import CoreDataManagedProperties
import CoreDataPrimitives
import SwiftSyntax

/// Reads the model declarations of a Swift file: calls with literals, in functions and constants, at the top level or
/// in a type.
///
/// It executes nothing, so code that would have to run (a variable, `if`, an expression) is reported as a problem.
package struct ModelDeclarationReader {
    private let text: SourceText
    private var expressions: DeclaredExpression
    private var declarations: ModelDeclarations

    package static func read(_ source: PortSource) -> ModelDeclarations {
        let text = SourceText(path: source.path, text: source.text)
        let tree = SwiftReading.tree(of: source.text)
        var reader = ModelDeclarationReader(text)
        if tree.hasError {
            let finder = MistakeFinder(text)
            finder.walk(tree)
            let start = CoreDataPrimitives.SourceLocation(file: source.path, line: 1, column: 1)
            reader.declarations.problems =
                finder.problems.isEmpty ? [.init("the file is no Swift", at: start)] : finder.problems
            return reader.declarations
        }
        reader.read(tree.statements.map(\.item))
        reader.declarations.problems = reader.expressions.problems
        return reader.declarations
    }

    private init(_ text: SourceText) {
        self.text = text
        expressions = DeclaredExpression(text)
        declarations = ModelDeclarations(end: text.location(at: text.bytes.count))
    }

    private mutating func read(_ items: [CodeBlockItemSyntax.Item]) {
        for item in items {
            if case .decl(let declaration) = item { read(declaration) } else { refuse(item) }
        }
    }

    private mutating func read(_ declaration: DeclSyntax) {
        if let type = declaration.as(EnumDeclSyntax.self) {
            readType(type.name, type.memberBlock)
        } else if let type = declaration.as(StructDeclSyntax.self) {
            readType(type.name, type.memberBlock)
        } else if let variable = declaration.as(VariableDeclSyntax.self) {
            for binding in variable.bindings { readConstant(binding) }
        } else if let function = declaration.as(FunctionDeclSyntax.self) {
            readFunction(function)
        } else if !declaration.is(ImportDeclSyntax.self) {
            refuse(declaration)
        }
    }

    private mutating func refuse(_ node: some SyntaxProtocol) {
        let word = node.firstToken(viewMode: .sourceAccurate)?.text ?? ""
        expressions.report(
            "'\(word)': only what 'coredata model convert --to swift' writes is read, not any Swift", at: node)
    }

    private mutating func readType(_ name: TokenSyntax, _ block: MemberBlockSyntax) {
        declarations.typeName = name.identifierName
        for member in block.members { read(member.decl) }
    }

    /// Reads `let currentVersion = "…"`, `let versions: … = ["…": f]` or `let model = try NSManagedObjectModel …`.
    private mutating func readConstant(_ binding: PatternBindingSyntax) {
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.identifierName,
            let value = binding.initializer?.value, binding.accessorBlock == nil
        else { return expressions.report("a constant with a value should be here", at: binding) }
        switch name {
        case "currentVersion":
            if let text = readText(value) { declarations.currentVersion = text }
        case "versions": readVersions(value)
        default: readModel(value, named: name)
        }
    }

    private mutating func readText(_ node: ExprSyntax) -> String? {
        if let text = node.as(StringLiteralExprSyntax.self)?.representedLiteralValue { return text }
        expressions.report("a text in quotes should be here", at: node)
        return nil
    }

    private mutating func readVersions(_ node: ExprSyntax) {
        guard let dictionary = node.as(DictionaryExprSyntax.self) else {
            return expressions.report("a dictionary of functions by the names of versions should be here", at: node)
        }
        guard case .elements(let elements) = dictionary.content else { return }
        for element in elements {
            guard let name = readText(element.key) else { continue }
            guard let function = element.value.as(DeclReferenceExprSyntax.self) else {
                expressions.report("the name of a function should be here", at: element.value)
                continue
            }
            declarations.versions.append(
                .init(name: name, function: function.baseName.identifierName, place: text.location(of: function)))
        }
    }

    private mutating func readFunction(_ function: FunctionDeclSyntax) {
        guard let body = function.body, let item = body.statements.first, body.statements.count == 1 else {
            return expressions.report("a function here has one statement, 'try NSManagedObjectModel …'", at: function)
        }
        switch item.item {
        case .expr(let expression): readModel(expression, named: function.name.identifierName)
        case .stmt(let statement):
            guard let value = statement.as(ReturnStmtSyntax.self)?.expression else { return refuse(statement) }
            readModel(value, named: function.name.identifierName)
        case .decl(let declaration): refuse(declaration)
        }
    }

    private mutating func readModel(_ node: ExprSyntax, named name: String) {
        guard let attempt = node.as(TryExprSyntax.self) else {
            return expressions.report("'try NSManagedObjectModel' should be here", at: node)
        }
        guard let expression = expressions.read(attempt.expression) else { return }
        guard case .call(let call) = expression.content, call.name == "NSManagedObjectModel" else {
            return expressions.report("'NSManagedObjectModel { … }' should be here", at: attempt.expression)
        }
        declarations.models.append(.init(name: name, call: expression))
    }
}

/// Finds the syntax errors of a file.
private final class MistakeFinder: SyntaxVisitor {
    private let text: SourceText
    private(set) var problems: [ModelDeclarations.Problem] = []

    init(_ text: SourceText) {
        self.text = text
        super.init(viewMode: .all)
    }

    private func report(_ message: String, at offset: Int) {
        // One error causes others; the first of a line is the most useful.
        guard text.line(at: offset) != problems.last?.place.line else { return }
        problems.append(.init(message, at: text.location(at: offset)))
    }

    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        guard node.closingQuote.presence == .missing else { return .visitChildren }
        report("a text that starts here has no end", at: node.positionAfterSkippingLeadingTrivia.utf8Offset)
        return .skipChildren
    }

    override func visit(_ token: TokenSyntax) -> SyntaxVisitorContinueKind {
        let offset = token.positionAfterSkippingLeadingTrivia.utf8Offset
        if token.presence == .missing {
            // The parser's placeholders: `<#expression#>`.
            let isNamed = token.text.hasPrefix("<#")
            report(
                isNamed || token.text.isEmpty ? "something is missing here" : "'\(token.text)' should be here",
                at: offset)
        }
        return .visitChildren
    }

    override func visit(_ node: UnexpectedNodesSyntax) -> SyntaxVisitorContinueKind {
        report("this is no Swift here", at: node.positionAfterSkippingLeadingTrivia.utf8Offset)
        return .visitChildren
    }
}
