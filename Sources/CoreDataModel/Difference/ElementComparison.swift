import CoreDataPrimitives

/// Finds differences that documents contain and compiled models do not: validation, user info, code generation,
/// requests, configurations. None of them affects a store.
struct ElementComparison {
    private(set) var changes: [ModelDifference.Change] = []

    /// Returns the changes outside entities; the subject is the part of the document.
    static func changes(from old: ModelDocument, to new: ModelDocument) -> [ModelDifference.Change] {
        var result = Self()
        result.compareNamed("configuration", old.configurations, new.configurations, \.name) { configuration in
            [
                ("entities ", configuration.entityNames.sorted(by: NameOrder.byCodeUnits).joined(separator: ", ")),
                ("", configuration.usedWithCloudKit ? "used with CloudKit" : "not used with CloudKit"),
            ]
        }
        result.compareNamed("fetch request", old.fetchRequests, new.fetchRequests, \.name, Self.facts)
        // Compiled models keep composites only in each attribute, where they are compared.
        if old.origin == .written, new.origin == .written {
            result.compareNamed("composite", old.composites, new.composites, \.name) { composite in
                let elements = composite.properties.map { "\($0.name)\($0.isOptional ? "?" : "")" }
                return [("elements ", elements.joined(separator: ", "))]
            }
        }
        let identifiers = (
            old.versionIdentifiers.joined(separator: ", "), new.versionIdentifiers.joined(separator: ", ")
        )
        result.compare("model", [("version identifiers ", identifiers.0)], [("version identifiers ", identifiers.1)])
        return result.changes
    }

    /// - Parameter inSources: whether both documents were read from source; compiled models omit the settings that only
    ///   code generators use.
    static func changes(
        _ subject: String, from old: EntityElement?, to new: EntityElement?, inSources: Bool
    ) -> [ModelDifference.Change] {
        guard let old, let new else { return [] }
        var result = Self()
        result.compare(subject, facts(old), facts(new))
        if inSources {
            let name = "code generation "
            result.compare(
                subject, [(name, old.codeGenerationType ?? "")], [(name, new.codeGenerationType ?? "")])
        }
        return result.changes
    }

    static func changes(
        _ subject: String, from old: PropertyElement?, to new: PropertyElement?, inSources: Bool
    ) -> [ModelDifference.Change] {
        guard let old, let new else { return [] }
        var result = Self()
        result.compare(subject, facts(old), facts(new))
        if inSources, case .attribute(let a) = old.kind, case .attribute(let b) = new.kind {
            result.compare(subject, sourceFacts(a), sourceFacts(b))
        }
        return result.changes
    }

    private typealias Fact = (what: String, text: String)

    private mutating func compare(_ subject: String, _ old: [Fact], _ new: [Fact]) {
        for (a, b) in zip(old, new) where a.text != b.text {
            func shown(_ text: String) -> String { text.isEmpty ? "none" : text }
            changes.append(
                .init(subject: subject, text: "\(a.what)\(shown(a.text)) → \(shown(b.text))", needsMigration: false))
        }
    }

    private mutating func compareNamed<Element>(
        _ kind: String, _ old: [Element], _ new: [Element], _ name: (Element) -> String, _ facts: (Element) -> [Fact]
    ) {
        let before = Dictionary(old.map { (name($0), $0) }, uniquingKeysWith: { first, _ in first })
        let after = Dictionary(new.map { (name($0), $0) }, uniquingKeysWith: { first, _ in first })
        for key in Set(before.keys).union(after.keys).sorted(by: NameOrder.byCodeUnits) {
            switch (before[key], after[key]) {
            case (let a?, let b?): compare("\(kind) \(key)", facts(a), facts(b))
            case (nil, _): changes.append(.init(subject: "\(kind) \(key)", text: "was added", needsMigration: false))
            case (_, nil): changes.append(.init(subject: "\(kind) \(key)", text: "was removed", needsMigration: false))
            }
        }
    }

    // MARK: Facts

    private static func facts(_ request: FetchRequestElement) -> [Fact] {
        [
            ("entity ", request.entityName ?? ""), ("predicate ", request.predicate ?? ""),
            (
                "sorted by ",
                request.sorts.map { $0.key + ($0.isAscending ? "" : " descending") }.joined(separator: ", ")
            ),
            ("limit ", String(request.fetchLimit)), ("offset ", String(request.fetchOffset)),
            ("batch size ", String(request.fetchBatchSize)), ("result type ", String(request.resultType)),
            ("", request.includesSubentities ? "with subentities" : "without subentities"),
            ("", request.includesPropertyValues ? "with property values" : "without property values"),
            ("", request.includesPendingChanges ? "with pending changes" : "without pending changes"),
            ("", request.returnsObjectsAsFaults ? "as faults" : "not as faults"),
            ("", request.returnsDistinctResults ? "distinct" : "not distinct"),
        ]
    }

    private static func facts(_ entity: EntityElement) -> [Fact] {
        [
            ("renaming identifier ", entity.renamingIdentifier ?? ""),
            ("user info ", text(entity.userInfo)),
            ("Spotlight name ", entity.coreSpotlightDisplayNameExpression ?? ""),
        ]
    }

    private static func facts(_ property: PropertyElement) -> [Fact] {
        var facts: [Fact] = [
            ("renaming identifier ", property.renamingIdentifier ?? ""), ("user info ", text(property.userInfo)),
            ("", property.isIndexedBySpotlight ? "in Spotlight" : "not in Spotlight"),
            ("validation ", property.validations.map(\.predicate).joined(separator: " and ")),
        ]
        if case .fetched(let request) = property.kind { facts += Self.facts(request) }
        return facts
    }

    private static func sourceFacts(_ attribute: AttributeElement) -> [Fact] {
        [
            ("", attribute.allowsCloudEncryption ? "encrypted in the cloud" : "not encrypted in the cloud"),
            ("", attribute.usesScalarValueType == true ? "scalar" : "object"),
        ]
    }

    private static func text(_ userInfo: [String: String]) -> String {
        userInfo.sorted { NameOrder.byCodeUnits($0.key, $1.key) }.map { "\($0.key)=\($0.value)" }.joined(
            separator: ", ")
    }
}
