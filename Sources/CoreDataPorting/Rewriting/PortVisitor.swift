import CoreDataManagedProperties
import CoreDataPrimitives
import SwiftSyntax

/// Visits one source and collects the rewrites; a separate file handles each construct.
final class PortVisitor: SyntaxVisitor {
    let text: SourceText
    let index: SourceIndex
    private var edits: [SourceEdit] = []
    private var moves: [SourceMove] = []
    private var changes: [PortChange] = []
    private var remarks: [Diagnostic] = []
    /// The missing modules that the source imports in compiled code.
    var missingModules: [(name: String, range: Range<Int>)] = []
    /// The imported modules with the position of the first import, preferably one without a condition.
    var imports: [String: (range: Range<Int>, isConditional: Bool)] = [:]
    /// The position for an import in a source without imports: after the comment at the top.
    private(set) var head = 0
    /// The names that are imported individually, as in `import class Foundation.URLSession`.
    var importedNames: Set<String> = []
    /// The names that the source uses, with the position of the first use.
    var usedNames: [String: Int] = [:]
    /// All uses of the names, in the order of the source.
    var allUses: [(name: String, offset: Int)] = []
    /// The members that key-value coding accesses, for the compiled copy.
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

    /// The modules that neither Apple nor the toolchain has, each with its first import.
    private var otherModules: [PortedSource.OtherModule] {
        imports.filter { !$0.value.isConditional && !index.presentModules.contains($0.key) }
            .filter { !AppleModules.isAppleOnly($0.key) && !ToolchainModules.contains($0.key) }
            .map { PortedSource.OtherModule(name: $0.key, location: text.location(at: $0.value.range.lowerBound)) }
            .sorted { $0.location.line < $1.location.line }
    }

    // MARK: Functions for the constructs' files

    /// Rewrites a range in both outputs.
    func rewrite(_ range: Range<Int>, to replacement: String, as kind: PortChange.Kind) {
        add(.replace(range, with: replacement, in: text), as: kind, before: text.text(range), after: replacement)
    }

    func add(_ edit: SourceEdit, as kind: PortChange.Kind, before: String, after: String) {
        edits.append(edit)
        note(kind, at: edit.range.lowerBound, before: before, after: after)
    }

    /// Records a change that is part of another edit.
    func note(_ kind: PortChange.Kind, at offset: Int, before: String, after: String) {
        changes.append(PortChange(kind: kind, location: text.location(at: offset), before: before, after: after))
    }

    func hasChange(of kind: PortChange.Kind) -> Bool { changes.contains { $0.kind == kind } }

    /// Rewrites a range only in the compiled copy; it is not reported as a change.
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

    /// Adds a declaration to the compiled copy.
    func generate(_ declaration: String) { generated.append(declaration) }

    /// Omits the source; only the reason is reported.
    func leaveOut(because use: InterfaceUse) {
        if neededFrameworks.isEmpty { remarks = [] }
        if !neededFrameworks.contains(use.framework) { neededFrameworks.append(use.framework) }
        remark(
            "left out: '\(use.name)' needs \(use.framework), which does not exist here", use.severity, at: use.offset,
            hint: AbsentNames.substitute(for: use.name, in: use.framework))
    }

    // MARK: Dispatch to the constructs

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

    /// A member's name is not a name of a module, unless it follows the module's name.
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
