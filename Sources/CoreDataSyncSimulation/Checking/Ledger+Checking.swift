/// What all devices have in the end, by the numbers of objects.
package struct FinalState: Hashable, Sendable {
    package struct Object: Hashable, Sendable {
        package var entity: String
        package var values: [String: Int]

        package init(entity: String, values: [String: Int]) { (self.entity, self.values) = (entity, values) }
    }

    package var objects: [Int: Object]

    package init(objects: [Int: Object]) { self.objects = objects }
}

extension Ledger {
    /// What is wrong with a final state, one sentence each.
    ///
    /// - Parameter entities: the entity of each number.
    package func mistakes(_ state: FinalState, _ model: SimulatedModel, _ entities: [Int: String]) -> [String] {
        var histories: [Int: [Entry]] = [:]
        for entry in entries { histories[entry.event.object, default: []].append(entry) }
        var mistakes: [String] = []
        for (number, history) in histories.sorted(by: { $0.key < $1.key }) {
            guard let entity = entities[number] else { continue }
            let object = ObjectHistory(number, entity, model, history, journaled)
            mistakes += object.mistakes(state.objects[number])
        }
        for number in state.objects.keys.sorted() where histories[number] == nil {
            mistakes.append("Object \(number) exists, and nobody has made it.")
        }
        return mistakes
    }
}

/// The entries of one object.
private struct ObjectHistory {
    let number: Int
    let entity: String
    let model: SimulatedModel
    let root: SimulatedModel.Entity?
    let creations: [Ledger.Entry]
    let deletions: [Ledger.Entry]
    let writes: [Ledger.Entry]
    let journaled: Set<Int>

    init(
        _ number: Int, _ entity: String, _ model: SimulatedModel, _ history: [Ledger.Entry], _ journaled: Set<Int>
    ) {
        (self.number, self.entity, self.model, self.journaled) = (number, entity, model, journaled)
        root = model.root(of: entity)
        creations = history.filter { $0.event.kind == .creation }
        deletions = history.filter { $0.event.kind == .deletion }
        writes = history.filter { $0.event.kind == .write }
    }

    func mistakes(_ object: FinalState.Object?) -> [String] {
        existenceMistakes(object != nil) + model.attributes(of: entity).flatMap { valueMistakes($0, object) }
    }

    /// Whether the object may have become part of another one.
    private var mayBeTwin: Bool { root?.hasCode == true }

    private func existenceMistakes(_ exists: Bool) -> [String] {
        let isMade = creations.contains { !$0.isUndone }
        if !exists, isMade, deletions.isEmpty, !mayBeTwin, !model.isTakenAlong(entity) {
            return ["Object \(number) of entity \(entity) is gone, and nobody has deleted it."]
        }
        let isDeleted = deletions.contains { !$0.isUndone }
        if exists, isDeleted, creations.count == 1, root?.editWins != true, !model.canDeny, !mayBeTwin {
            return ["Object \(number) of entity \(entity) was deleted, and exists."]
        }
        return []
    }

    private func valueMistakes(_ attribute: SimulatedModel.Attribute, _ object: FinalState.Object?) -> [String] {
        guard attribute.kind.tellsNumber, !mayBeTwin else { return [] }
        let mine = writes.filter { $0.event.attribute == attribute.name }
        guard !mine.isEmpty else { return [] }
        guard attribute.merge == .last else { return mergeMistakes(attribute, mine, object) }
        let final = object?.values[attribute.name]
        let replaced = Set(mine.compactMap(\.event.replaced))
        let replacedForGood = Set(mine.filter { !$0.isUndone }.compactMap(\.event.replaced))
        let seen = Set(deletions.compactMap { $0.event.seen[attribute.name] })
        var mistakes: [String] = []
        func say(_ text: String) { mistakes.append("Object \(number), \(attribute.name): \(text)") }
        if let final {
            if !mine.contains(where: { $0.event.value == final }) {
                say("it has value \(final), which nobody has written.")
            } else if replacedForGood.contains(final), deletions.isEmpty {
                say("value \(final) came back, although a later one replaced it.")
            }
        }
        let blind = deletions.contains { $0.event.isBlind }
        for entry in mine {
            guard let value = entry.event.value, entry.isAttached, !entry.isUndone, !entry.isForgotten else { continue }
            if value == final || replaced.contains(value) || seen.contains(value) || journaled.contains(value) {
                continue
            }
            if blind, object == nil { continue }
            let end = object == nil ? "the object is gone" : "it has \(final.map(String.init) ?? "none")"
            say("value \(value) of device \(entry.device) is lost: \(end), and no journal has it.")
        }
        return mistakes
    }

    /// Sums, minima and maxima of objects that were never deleted.
    private func mergeMistakes(
        _ attribute: SimulatedModel.Attribute, _ mine: [Ledger.Entry], _ object: FinalState.Object?
    ) -> [String] {
        guard let object, deletions.isEmpty, creations.count == 1,
            root?.identity == .random || root?.identity == .declared,
            mine.allSatisfy({ $0.isAttached && !$0.isUndone && !$0.isForgotten }),
            mine.allSatisfy({ $0.event.value != nil })
        else { return [] }
        var captured: [[Int]: Int] = [:]
        for entry in mine { captured[[entry.device, entry.exchange]] = entry.event.value }
        let values = Array(captured.values)
        let expected: Int? =
            switch attribute.merge {
            case .last: nil
            case .min: values.min()
            case .max: values.max()
            case .sum: mine.reduce(0) { $0 + ($1.event.value ?? 0) - ($1.event.replaced ?? 0) }
            }
        let final = object.values[attribute.name]
        if final == expected { return [] }
        return [
            "Object \(number), \(attribute.name): the \(attribute.merge.rawValue) is "
                + "\(final.map(String.init) ?? "none"), and not \(expected.map(String.init) ?? "none")."
        ]
    }
}
