import CoreDataModel
import CoreDataPrimitives

/// Finds errors and questionable design in a model, beyond the compiler's errors.
///
///     for finding in ModelLinter.findings(in: document) { print(finding.rendered) }
///     // Model.xcdatamodel/contents:4:9: warning: relationship 'Book.author' has no inverse
///
/// Each finding has the identifier of its ``LintRule``. The value of the key ``suppressionKey`` in an element's user
/// info lists rules to suppress; compiler errors cannot be suppressed.
package struct ModelLinter {
    /// The user-info key whose value lists rules to suppress for an entity or property: `shared-class, swift-keyword`.
    /// An entity's list also applies to its properties.
    package static let suppressionKey = "coredata.lint.ignore"

    let compilation: Compilation
    let texts: ModelTextChecker?
    private(set) var findings: [Diagnostic] = []

    /// Returns all findings, sorted by location.
    ///
    /// - Parameters:
    ///   - previous: the previous version, whose stores will be migrated to this one.
    ///   - texts: the parser of predicates and derivations; without it they are not checked.
    package static func findings(
        in document: ModelDocument, previous: ModelDocument? = nil, texts: ModelTextChecker? = nil
    ) -> [Diagnostic] {
        var compilation = Compilation(document)
        compilation.run()
        var linter = ModelLinter(compilation: compilation, texts: texts)
        linter.checkEntities()
        linter.checkNames()
        linter.checkRelationships()
        linter.checkCascades()
        linter.checkConfigurations()
        linter.checkAttributes()
        linter.checkTexts()
        if let previous { linter.checkMigration(from: previous) }
        return linter.result()
    }

    var document: ModelDocument { compilation.document }
    var entities: [EntityElement] { compilation.entities }

    /// Returns the findings without suppressed ones. Compiler errors that make the model unusable cannot be suppressed.
    private func result() -> [Diagnostic] {
        let subjects = subjectsByLocation()
        let compiled = compilation.diagnostics.map { diagnostic in
            var diagnostic = diagnostic
            diagnostic.rule = diagnostic.rule ?? LintRule.invalidModel.rawValue
            diagnostic.subject = diagnostic.subject ?? diagnostic.location.flatMap { subjects[$0] }
            return diagnostic
        }
        let ignored = ignoredRules()
        let shown =
            compiled.filter { $0.severity == .error || !isIgnored($0, by: ignored) }
            + findings.filter { !isIgnored($0, by: ignored) }
        return shown.enumerated().sorted { a, b in
            let (x, y) = (a.element.location, b.element.location)
            if let x, let y, (x.line, x.column) != (y.line, y.column) { return (x.line, x.column) < (y.line, y.column) }
            return a.offset < b.offset
        }.map(\.element)
    }

    private func isIgnored(_ finding: Diagnostic, by ignored: [String: Set<String>]) -> Bool {
        guard let rule = finding.rule, let subject = finding.subject else { return false }
        let owners = [subject, String(subject.prefix { $0 != "." })]
        return owners.contains { ignored[$0]?.contains(rule) ?? false }
    }

    private func ignoredRules() -> [String: Set<String>] {
        var result: [String: Set<String>] = [:]
        func note(_ userInfo: [String: String], _ subject: String) {
            guard let text = userInfo[Self.suppressionKey] else { return }
            result[subject] = Set(text.split { $0 == "," || $0.isWhitespace }.map(String.init))
        }
        for (index, entity) in entities.enumerated() {
            note(entity.userInfo, entity.name)
            for property in entity.properties { note(property.userInfo, compilation.path(property, in: index)) }
        }
        return result
    }

    private func subjectsByLocation() -> [SourceLocation: String] {
        var result: [SourceLocation: String] = [:]
        for (index, entity) in entities.enumerated() {
            if let location = entity.location { result[location] = entity.name }
            for property in entity.properties {
                if let location = property.location { result[location] = compilation.path(property, in: index) }
            }
        }
        return result
    }

    // MARK: Support for the rules

    mutating func report(
        _ rule: LintRule, _ message: String, subject: String, at location: SourceLocation?, hint: String,
        severity: Diagnostic.Severity? = nil
    ) {
        findings.append(
            Diagnostic(
                severity ?? rule.severity, message, at: location, sourceLine: document.sourceLine(at: location),
                hint: hint,
                rule: rule.rawValue, subject: subject))
    }

    mutating func report(_ rule: LintRule, _ message: String, entity index: Int, hint: String) {
        report(rule, message, subject: entities[index].name, at: entities[index].location, hint: hint)
    }

    mutating func report(
        _ rule: LintRule, _ message: String, _ property: PropertyElement, in index: Int, hint: String
    ) {
        report(
            rule, message, subject: compilation.path(property, in: index),
            at: compilation.location(property, in: index), hint: hint)
    }

    /// A property at its declaration.
    struct Declared {
        var entity: Int
        var slot: Int
        var element: PropertyElement
    }

    /// Every property that an entity declares itself, by entity in the document's order.
    var declared: [Declared] {
        entities.indices.flatMap { index in
            compilation.slots[index].enumerated().compactMap { slot, property in
                property.declarer == index ? Declared(entity: index, slot: slot, element: property.element) : nil
            }
        }
    }
}
