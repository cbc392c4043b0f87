import CoreDataModel
import CoreDataModelTools
import CoreDataPrimitives

/// The state of the editor that one page shows, and the parts that its pages share.
struct EditorView: Sendable {
    /// A form that was not applied: what was typed, and why.
    struct Refusal: Sendable {
        var form: FormFields
        var notice: String
        /// The setting that has the mistake.
        var field: String?
        /// The column of the mistake in a predicate.
        var column: Int?
    }

    let session: EditingSession
    let place: EditorPlace
    /// The name of the version that is shown.
    let version: String
    let document: ModelDocument
    let findings: [Diagnostic]
    let visit: Visit
    var refusal: Refusal?

    var bundle: ModelBundle { session.bundle }
    var isEditable: Bool { bundle[version]?.readOnlyReason == nil }

    /// - Throws: an error for a version that does not exist.
    init(_ session: EditingSession, place: EditorPlace, version: String?, visit: Visit) throws(PageFailure) {
        self.session = session
        self.place = place
        self.visit = visit
        let name = version ?? session.bundle.currentName
        guard let found = session.bundle[name] else { throw .missing("The model has no version '\(name)'.") }
        self.version = name
        document = found.document
        let lint =
            (name == session.bundle.currentName
                ? ModelLinter.missingCurrentVersion(in: session.bundle.modelVersions, at: session.bundle.name) : [])
            + ModelLinter.findings(
                in: found.document, previous: session.bundle.previous(to: name)?.document, texts: ModelTextChecker())
        findings = lint
    }

    // MARK: Links

    func address(_ place: EditorPlace, version: String? = nil) -> Address {
        let name = version ?? self.version
        return place.address.with("version", name == bundle.currentName ? nil : name)
    }

    func link(_ path: ModelPath, _ text: String) -> HTML {
        "<a href=\"\(address(.element(path)))\">\(text)</a>"
    }

    // MARK: Forms

    /// A form whose action is one command.
    ///
    /// - Parameter fields: hidden fields.
    func form(_ action: String, fields: [(String, String)] = [], class kind: HTML? = nil, _ content: HTML) -> HTML {
        guard isEditable else { return "" }
        let hidden = ([("do", action), ("at", place.address.text), ("version", version)] + fields)
            .map { name, value -> HTML in "<input type=hidden name=\"\(name)\" value=\"\(value)\">" }
        let style = kind.map { kind -> HTML in " class=\"\(kind)\"" }
        return """
            <form method=post action="/model/edit"\(style)>\(visit.formField)\(hidden)\
            <input type=hidden name=revision value="\(session.revision)">\(content)</form>
            """
    }

    /// A form with one button.
    func button(_ action: String, _ fields: [(String, String)] = [], _ title: String, label: String? = nil) -> HTML {
        let name = label.map { label -> HTML in " aria-label=\"\(label)\"" }
        return form(action, fields: fields, class: "inline", "<button\(name)>\(title)</button>")
    }

    /// The value of a field of the refused form; else the given one.
    func typed(_ field: String, _ value: String? = nil) -> String { refusal?.form[field] ?? value ?? "" }

    func textField(
        _ title: String, _ name: String, value: String? = nil, hint: String? = nil, isRequired: Bool = false
    ) -> HTML {
        let id = Self.id(title)
        let required: HTML = isRequired ? " required" : ""
        return """
            <div class=field><label for="\(id)">\(title)</label>\
            <input id="\(id)" name="\(name)" value="\(value ?? "")" autocomplete=off spellcheck=false\(required)>\
            \(hint.map { hint -> HTML in "<small>\(hint)</small>" })</div>
            """
    }

    func select(
        _ title: String, _ name: String, _ choices: [(value: String, title: String)], value: String? = nil
    ) -> HTML {
        let id = Self.id(title)
        return """
            <div class=field><label for="\(id)">\(title)</label>\
            <select id="\(id)" name="\(name)">\(options(choices, value))</select></div>
            """
    }

    func options(_ choices: [(value: String, title: String)], _ selected: String?) -> [HTML] {
        choices.map { choice in
            let mark: HTML = choice.value == selected ? " selected" : ""
            return "<option value=\"\(choice.value)\"\(mark)>\(choice.title)</option>"
        }
    }

    /// An identifier for a field; titles are unique on a page.
    private static func id(_ title: String) -> String {
        "f-" + String(title.lowercased().map { $0.isASCII && $0.isLetter ? $0 : "-" })
    }

    var entityNames: [String] { document.entities.map(\.name).sorted(by: NameOrder.ignoringCase) }

    // MARK: Findings

    /// The findings about an element and the elements inside it.
    func findings(of path: ModelPath) -> [Diagnostic] {
        let subject = path.subject
        return findings.filter { finding in
            guard let found = finding.subject else { return path == .model }
            if case .entity = path { return found == subject || found.hasPrefix(subject + ".") }
            return found == subject
        }
    }

    /// A finding with its hint and buttons for its fixes.
    func item(_ finding: Diagnostic, linksTo path: ModelPath? = nil) -> HTML {
        let fields = [("rule", finding.rule ?? ""), ("subject", finding.subject ?? "")]
        let fixes = LintFix.fixes(for: finding, in: bundle, version: version).map { fix in
            button("fix", fields + [("fix", fix.title)], fix.title)
        }
        let kind: HTML = finding.severity == .error ? "notice bad" : "notice"
        let place = finding.subject.flatMap(path(of:))
        let subject = path == place ? nil : place.map { path -> HTML in "\(link(path, path.subject)): " }
        return """
            <li class="\(kind)"><b>\(Self.word(finding.severity))</b> \(subject)\(finding.message)\
            \(finding.hint.map { hint -> HTML in "<br><small>\(hint)</small>" })\
            <div class=fixes>\(fixes)</div></li>
            """
    }

    static func word(_ severity: Diagnostic.Severity) -> HTML {
        switch severity {
        case .error: "Error"
        case .warning: "Warning"
        case .note: "Note"
        }
    }

    func list(_ findings: [Diagnostic], of path: ModelPath? = nil) -> HTML {
        if findings.isEmpty { return "" }
        return "<ul class=findings aria-label=Findings>\(findings.map { item($0, linksTo: path) })</ul>"
    }

    /// The element that a finding names.
    private func path(of subject: String) -> ModelPath? {
        let names = subject.split(separator: ".", maxSplits: 1).map(String.init)
        let entity = document.entities.first { $0.name == names.first }
        if let entity, names.count == 2, entity.properties.contains(where: { $0.name == names[1] }) {
            return .property(entity: entity.name, name: names[1])
        }
        if let entity { return .entity(entity.name) }
        return document.fetchRequests.contains { $0.name == subject } ? .fetchRequest(subject) : nil
    }

    /// `3 errors, 1 warning`; `nil` without findings.
    func counts(_ findings: [Diagnostic]) -> String? {
        let counts = [(Diagnostic.Severity.error, "error"), (.warning, "warning"), (.note, "note")]
            .map { severity, word in (findings.count { $0.severity == severity }, word) }.filter { $0.0 > 0 }
        if counts.isEmpty { return nil }
        return counts.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }.joined(separator: ", ")
    }
}
