import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives

extension PredicateTranslator {
    /// Returns a failure that names the part of the predicate that caused it.
    func failure(
        _ message: String, _ expression: ExpressionNode?, kind: PredicateFailure.Kind = .unsupported,
        hint: String? = nil
    ) -> PredicateFailure {
        let text = expression.map { self.text(of: $0) }
        return failure(message, text: text, kind: kind, hint: hint)
    }

    func failure(
        _ message: String, _ predicate: PredicateNode, kind: PredicateFailure.Kind = .unsupported,
        hint: String? = nil
    ) -> PredicateFailure {
        failure(message, text: text(of: predicate), kind: kind, hint: hint)
    }

    private func failure(
        _ message: String, text: String?, kind: PredicateFailure.Kind, hint: String?
    ) -> PredicateFailure {
        var message = message
        if let text, !message.contains(text) { message += " : (\(text))" }
        return PredicateFailure(kind, Diagnostic(.error, message, hint: hint), subexpression: text)
    }

    /// Returns the failure for key paths that need more joins than the database supports.
    func joinsTooMany(_ text: String) -> PredicateFailure {
        failure(
            "the key paths lead through more than the \(context.maximumJoinedTables) tables that one statement can join",
            text: text, kind: .unsupported, hint: "shorten them, or filter the objects in memory")
    }

    /// Returns Apple's message for an unknown key, with a suggestion.
    func keyNotFound(_ key: String, in entity: CompiledEntity, _ expression: ExpressionNode) -> PredicateFailure {
        let message = "keypath \(key) not found in entity \(entity.name)"
        if let property = entity.property(named: key) {
            let what = property.isTransient ? "a transient property" : "a fetched property"
            return failure(
                message, expression, hint: "'\(key)' is \(what), which no store knows; filter in memory")
        }
        let below = entity.subtree.first { context.model.entities[$0].property(named: key) != nil }
        if let below {
            let name = context.model.entities[below].name
            return failure(message, expression, hint: "its subentity '\(name)' has '\(key)'; fetch that entity")
        }
        let stored = entity.properties.filter { !$0.isTransient }.map(\.name)
        let nearest = NearestName.nearest(to: key, among: stored)
        let known = stored.isEmpty ? "it has none" : "it has: \(stored.sorted().joined(separator: ", "))"
        return failure(message, expression, hint: nearest.map { "did you mean '\($0)'?" } ?? known)
    }

    func text(of expression: ExpressionNode) -> String { PredicateFailure.shown(expression.predicateFormat) }

    func text(of predicate: PredicateNode) -> String { PredicateFailure.shown(predicate.predicateFormat) }
}

/// Finds the name that the author may have meant.
enum NearestName {
    /// Returns the candidate with the fewest changed letters, if they are few enough for a typing error.
    ///
    ///     nearest(to: "quantiy", among: ["name", "quantity"])   // "quantity"
    static func nearest(to name: String, among candidates: [String]) -> String? {
        let wanted = Array(name.lowercased().utf8)
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(wanted, Array(candidate.lowercased().utf8))
            if distance < best?.distance ?? Int.max { best = (candidate, distance) }
        }
        guard let best, best.distance <= max(1, (wanted.count + 1) / 3) else { return nil }
        return best.name
    }

    /// Returns the number of letters to insert, remove or replace.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let replaced = diagonal + (x == y ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, diagonal + 1, row[j] + 1)
            }
        }
        return row[b.count]
    }
}
