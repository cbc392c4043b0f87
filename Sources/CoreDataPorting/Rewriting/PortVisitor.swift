import CoreDataManagedProperties
import CoreDataPrimitives
import SwiftSyntax

/// Walks through one source and collects what to rewrite; one file beside this for each construct.
final class PortVisitor: SyntaxVisitor {
    let text: SourceText
    let index: SourceIndex
    private var edits: [SourceEdit] = []
    private var moves: [SourceMove] = []
    private var changes: [PortChange] = []
    private var remarks: [Diagnostic] = []
    /// The modules that are missing here, and the source imports them where they would be compiled.
    var missingModules: [(name: String, range: Range<Int>)] = []
    /// The modules that the source imports, with the place of the first import, one without a condition if there is.
    var imports: [String: (range: Range<Int>, isConditional: Bool)] = [:]
    /// Where an import goes in a source that has none: after the comment at the top.
    private(set) var head = 0
    /// What is imported by itself, as in `import class Foundation.URLSession`.
    var importedNames: Set<String> = []
    /// The names that the source uses, with the place of the first use.
    var usedNames: [String: Int] = [:]
    /// All uses of the names, in the order of the source.
    var allUses: [(name: String, offset: Int)] = []
    /// What key-value coding asks classes for, in a copy.
    var members: [(path: String, text: MemberText)] = []
    private var neededFrameworks: [String] = []
    private var generated: [String] = []

    init(text: SourceText, index: SourceIndex) {
        self.text = text
        self.index = index
        super.init(viewMode: .sourceAccurate)
    }

    var result: PortedSource {
        PortedSource(
            source: text, edits: edits, moves: moves, changes: changes, remarks: remarks,
            neededFrameworks: neededFrameworks, otherModules: otherModules, generated: generated)
    }

    /// The modules that are neither Apple's nor here with the toolchain, each with its first import.
    private var otherModules: [PortedSource.OtherModule] {
        imports.filter { !$0.value.isConditional && !index.presentModules.contains($0.key) }
            .filter { !AppleModules.isAppleOnly($0.key) && !ToolchainModules.contains($0.key) }
            .map { PortedSource.OtherModule(name: $0.key, location: text.location(at: $0.value.range.lowerBound)) }
            .sorted { $0.location.line < $1.location.line }
    }

    // MARK: What the constructs' files call

    /// Rewrites a piece, in what people read and in what is compiled.
    func rewrite(_ range: Range<Int>, to replacement: String, as kind: PortChange.Kind) {
        add(.replace(range, with: replacement, in: text), as: kind, before: text.text(range), after: replacement)
    }

    func add(_ edit: SourceEdit, as kind: PortChange.Kind, before: String, after: String) {
        edits.append(edit)
        note(kind, at: edit.range.lowerBound, before: before, after: after)
    }

    /// Makes a change without a place of its own known: it is in the edit of another one.
    func note(_ kind: PortChange.Kind, at offset: Int, before: String, after: String) {
        changes.append(PortChange(kind: kind, location: text.location(at: offset), before: before, after: after))
    }

    func hasChange(of kind: PortChange.Kind) -> Bool { changes.contains { $0.kind == kind } }

    /// Rewrites a piece only in what is compiled: no change that a person would see.
    func rewriteCompiled(_ range: Range<Int>, to replacement: String) {
        edits.append(SourceEdit(range: range, written: nil, compiled: replacement))
    }

    func move(_ move: SourceMove, named name: String) {
        moves.append(move)
        let start = text.bytes[move.range].firstIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        changes.append(
            PortChange(
                kind: .movedOverride, location: text.location(at: start ?? move.range.lowerBound), before: name,
                after: name))
    }

    func remark(
        _ message: String, _ severity: Diagnostic.Severity = .warning, at offset: Int, hint: String? = nil
    ) {
        let location = text.location(at: offset)
        remarks.append(
            Diagnostic(severity, message, at: location, sourceLine: text.lineText(location.line), hint: hint))
    }

    /// Declares something beside the source's own declarations, in a copy only.
    func generate(_ declaration: String) { generated.append(declaration) }

    /// Leaves the source out: then nothing needs to be said of it but why.
    func leaveOut(for framework: String, because name: String, at offset: Int) {
        if neededFrameworks.isEmpty { remarks = [] }
        if !neededFrameworks.contains(framework) { neededFrameworks.append(framework) }
        remark(
            "left out: '\(name)' needs \(framework), which does not exist here", at: offset,
            hint: AbsentNames.substitute(for: name, in: framework))
    }

    // MARK: Where each construct is met

    override func visit(_ node: SourceFileSyntax) -> SyntaxVisitorContinueKind {
        head = node.head
        return .visitChildren
    }

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
        for clause in ConditionalCompilation.compiledClauses(of: node) {
            if let elements = clause.elements { walk(elements) }
        }
        return .skipChildren
    }

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
        portImport(node)
        return .skipChildren
    }

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
        portAttribute(node)
        return .visitChildren
    }

    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
        portProtocol(node) ? .visitChildren : .skipChildren
    }

    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
        switch node.macroName.text {
        case "keyPath":
            portKeyPath(node)
            return .skipChildren
        case "selector":
            portSelector(node)
            return .skipChildren
        default: return .visitChildren
        }
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        if portSelectorName(node) { return .skipChildren }
        remarkAbsentCall(node)
        return .visitChildren
    }

    override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
        portCasts(node)
        return .visitChildren
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        addRequiredInitialiser(to: node)
        listKeyPaths(of: node)
        listArchiveName(of: node)
        return .visitChildren
    }

    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        portInitialiser(node)
        return .visitChildren
    }

    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        moveOverrides(of: node)
        return .visitChildren
    }

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        compileManagedProperty(node)
        listMembers(node)
        return .visitChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        compileManagedMethod(node)
        remarkAbsentOverride(node)
        listMembers(node)
        return .visitChildren
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        use(node.baseName.plainText, at: node.span.lowerBound)
        return .visitChildren
    }

    /// A member's name is not the name of something in a module, unless the module stands before it.
    override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
        guard let base = node.base else { return .skipChildren }
        if let module = base.as(DeclReferenceExprSyntax.self),
            dropModule(module.baseName, before: node.declName.baseName)
        {
            return .skipChildren
        }
        walk(base)
        if let module = base.as(DeclReferenceExprSyntax.self), AppleModules.isAppleOnly(module.baseName.plainText) {
            walk(node.declName)
        }
        return .skipChildren
    }

    override func visit(_ node: KeyPathPropertyComponentSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        use(node.name.plainText, at: node.span.lowerBound)
        return .visitChildren
    }

    override func visit(_ node: MemberTypeSyntax) -> SyntaxVisitorContinueKind {
        if let module = node.baseType.as(IdentifierTypeSyntax.self), dropModule(module.name, before: node.name) {
            return .visitChildren
        }
        if let module = node.baseType.as(IdentifierTypeSyntax.self),
            AppleModules.isAppleOnly(module.name.plainText)
        {
            use(node.name.plainText, at: node.span.lowerBound)
        }
        return .visitChildren
    }
}
