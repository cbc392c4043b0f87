import CoreDataPrimitives

/// The elements of a `contents` file that a ``ModelDocument`` preserves, and the attributes of elements whose
/// attributes are not all preserved.
enum ContentsGrammar {
    private struct Rule {
        /// The preserved attributes; `nil` if all are preserved.
        var attributes: Set<String>?
        var children: Set<String> = []
        /// Children of which a document preserves only the last.
        var single: Set<String> = []
    }

    private static let rules: [String: Rule] = [
        "model": Rule(
            children: ["entity", "fetchRequest", "configuration", "composite", "elements"], single: ["elements"]),
        "entity": Rule(
            children: [
                "attribute", "relationship", "fetchedProperty", "fetchIndex", "uniquenessConstraints",
                "compoundIndexes", "userInfo",
            ], single: ["userInfo"]),
        "attribute": Rule(children: ["userInfo"], single: ["userInfo"]),
        "relationship": Rule(children: ["userInfo"], single: ["userInfo"]),
        "fetchedProperty": Rule(children: ["fetchRequest", "userInfo"], single: ["fetchRequest", "userInfo"]),
        "fetchIndex": Rule(
            attributes: ["name", "partialIndexPredicate", "predicateString"], children: ["fetchIndexElement"]),
        "fetchIndexElement": Rule(attributes: ["property", "expression", "expressionType", "type", "order"]),
        "uniquenessConstraints": Rule(attributes: [], children: ["uniquenessConstraint"]),
        "uniquenessConstraint": Rule(attributes: [], children: ["constraint"]),
        "constraint": Rule(attributes: ["value"]),
        "compoundIndexes": Rule(attributes: [], children: ["compoundIndex"]),
        "compoundIndex": Rule(attributes: [], children: ["index"]),
        "index": Rule(attributes: ["value"]),
        "userInfo": Rule(attributes: [], children: ["entry"]),
        "entry": Rule(attributes: ["key", "value"]),
        "fetchRequest": Rule(attributes: [
            "name", "entity", "predicateString", "fetchLimit", "fetchBatchSize", "resultType", "includeSubentities",
            "includePropertyValues", "includesPendingChanges", "returnObjectsAsFaults", "returnDistinctResults",
        ]),
        "configuration": Rule(attributes: ["name", "usedWithCloudKit"], children: ["memberEntity"]),
        "memberEntity": Rule(attributes: ["name"]),
        "composite": Rule(attributes: ["name"], children: ["attribute"]),
        "elements": Rule(attributes: [], children: ["element"]),
        "element": Rule(),
    ]

    /// Returns a problem for each comment, element, attribute and text under `root` that a document does not preserve.
    static func unkept(in root: MarkupElement, sourceLine: (SourceLocation) -> String?) -> [Diagnostic] {
        var found: [(message: String, place: SourceLocation)] = []
        for offset in root.source.comments { found.append(("a comment", root.source.location(offset))) }
        collect(root, &found)
        return found.map { message, place in
            Diagnostic(
                .error, "\(message) would be lost in writing the model", at: place, sourceLine: sourceLine(place),
                hint: "move it out of the file first")
        }
    }

    private static func collect(_ element: MarkupElement, _ found: inout [(message: String, place: SourceLocation)]) {
        guard let rule = rules[element.name] else { return }
        if element.text.contains(where: { !$0.isWhitespace }) {
            found.append(("the text in <\(element.name)>", element.location))
        }
        if let known = rule.attributes {
            for name in element.attributes.keys.sorted() where !known.contains(name) {
                found.append(("attribute '\(name)' of <\(element.name)>", element.location(of: name)))
            }
        }
        var seen: Set<String> = []
        for child in element.children {
            if !rule.children.contains(child.name) {
                found.append(("element <\(child.name)> in <\(element.name)>", child.location))
            } else if !seen.insert(child.name).inserted, rule.single.contains(child.name) {
                found.append(("a second <\(child.name)> in <\(element.name)>", child.location))
            }
            collect(child, &found)
        }
        if element.name == "userInfo" { collectRepeatedKeys(element, &found) }
    }

    private static func collectRepeatedKeys(
        _ userInfo: MarkupElement, _ found: inout [(message: String, place: SourceLocation)]
    ) {
        var keys: Set<String> = []
        for entry in userInfo.children where !keys.insert(entry.attributes["key"] ?? "").inserted {
            found.append(("a second entry for key '\(entry.attributes["key"] ?? "")'", entry.location))
        }
    }
}
