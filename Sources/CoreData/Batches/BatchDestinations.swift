import CoreDataModel
import CoreDataPrimitives
import CoreDataStore

/// The destinations of to-one relationships that a batch insert names by a unique value: "unit.name".
final class BatchDestinations {
    private struct Place: Hashable {
        var slot: Int
        var attribute: Int
    }

    private let writer: BatchWriter
    private let model: ModelRuntime
    private let entity: EntityRuntime
    /// The destinations that were found; emptied when there are many.
    private var known: [Place: [String: RowKey]] = [:]
    private var count = 0

    init(_ writer: BatchWriter, _ entity: EntityRuntime, in model: ModelRuntime) {
        self.writer = writer
        self.entity = entity
        self.model = model
    }

    /// Returns the destination of a relationship that has this value of its attribute; `nil` for nil.
    ///
    /// - Throws: an error that names the value that is not unique or does not exist.
    func key(_ any: Any, _ slot: Int, _ path: ArraySlice<String>) throws -> RowKey? {
        let info = entity.slots[slot]
        let name = info.name + "." + path.joined(separator: ".")
        guard let relationship = info.relationship, !info.isToMany else {
            throw refusal(name, "'\(info.name)' is no to-one relationship")
        }
        let destination = model.entities[relationship.destination]
        guard let (attribute, rest) = destination.slot(at: path), rest.isEmpty,
            destination.slots[attribute].attribute != nil
        else { throw refusal(name, "'\(path.joined(separator: "."))' is no attribute of '\(destination.name)'") }
        guard try writer.isUnique(entity: destination.ordinal, slot: attribute) else {
            throw refusal(
                name,
                "no uniqueness constraint of '\(destination.name)' has '\(path.joined(separator: "."))' for itself, so that "
                    + "its values name no object")
        }
        guard let value = ManagedObjectValues.acceptedValue(any, destination.slots[attribute].kind) else {
            throw refusal(name, "\(type(of: any)) is not the attribute's type")
        }
        if value.isNull { return nil }
        let place = Place(slot: slot, attribute: attribute)
        let text = "\(value)"
        if let found = known[place]?[text] { return found }
        guard let found = try writer.row(entity: destination.ordinal, slot: attribute, having: value) else {
            throw refusal(name, "no '\(destination.name)' has this value: \(any)")
        }
        if count == BatchWriter.mostKnown { (known, count) = ([:], 0) }
        known[place, default: [:]][text] = found
        count += 1
        return found
    }

    private func refusal(_ name: String, _ reason: String) -> CocoaError {
        CoreDataErrors.invalidRequest("A batch insert of '\(entity.name)' cannot set '\(name)': \(reason).")
    }
}
