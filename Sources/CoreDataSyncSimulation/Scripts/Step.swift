/// One step of a simulation. Printed, it is the expression that makes it.
///
/// Steps name objects by numbers. A step whose objects or device do not exist does nothing: any part of a script is a
/// script.
package enum Step: Hashable, Sendable {
    // MARK: Edits, each pending until the device saves

    /// Inserts an object. An object with a key that exists is not inserted again.
    case insert(device: Int, entity: String, number: Int, owner: Int?)
    case set(device: Int, object: Int, attribute: String, value: Int?)
    /// Sets a to-one relationship, or adds to a to-many one.
    case relate(device: Int, object: Int, relationship: String, target: Int?)
    case unrelate(device: Int, object: Int, relationship: String, target: Int)
    /// Moves a member of an ordered relationship.
    case move(device: Int, object: Int, relationship: String, from: Int, to: Int)
    case delete(device: Int, object: Int)

    // MARK: Requests, each a transaction

    case batchInsert(device: Int, entity: String, first: Int, count: Int)
    case batchUpdate(device: Int, entity: String, attribute: String, value: Int, first: Int, last: Int)
    case batchDelete(device: Int, entity: String, first: Int, last: Int)

    // MARK: Devices

    case save(device: Int)
    case exchange(device: Int)
    /// Exchanges, and dies at the given step of it; then the device starts again.
    case die(device: Int, at: Int)
    /// Copies the files of the device's store and sidecar away.
    case backUp(device: Int)
    /// Puts the files of the last backup back.
    case restore(device: Int, withSidecar: Bool)
    /// Makes another device of a copy of one's files.
    case copy(device: Int, to: Int)
    case purgeHistory(device: Int)
    /// Opens the store with the next version of the model.
    case upgrade(device: Int)
    /// Sets the device's clock wrong, by seconds.
    case setClock(device: Int, ahead: Int)

    // MARK: The world

    /// Time goes on.
    case wait(seconds: Int)
    /// Makes the place faulty for a device, or sound again.
    case trouble(device: Int, PlaceTrouble)
    /// Loses a segment of the device that one of its snapshots contains.
    case lose(device: Int)
}

/// How a place treats one device.
package enum PlaceTrouble: String, Hashable, Sendable, CaseIterable {
    case none, late, hidden, repeated, torn, truncated, corrupted, failing, deaf, rough, readOnly, full
}

extension Step {
    /// Whether the step changes an object of the store.
    package var isEdit: Bool { edits > 0 }

    /// The number of objects that the step changes at most.
    package var edits: Int {
        switch self {
        case .insert, .set, .relate, .unrelate, .move, .delete: 1
        case .batchInsert(_, _, _, let count): count
        case .batchUpdate(_, _, _, _, let first, let last), .batchDelete(_, _, let first, let last): last - first + 1
        default: 0
        }
    }

    package var device: Int? {
        switch self {
        case .insert(let device, _, _, _), .set(let device, _, _, _), .relate(let device, _, _, _),
            .unrelate(let device, _, _, _), .move(let device, _, _, _, _), .delete(let device, _),
            .batchInsert(let device, _, _, _), .batchUpdate(let device, _, _, _, _, _),
            .batchDelete(let device, _, _, _), .save(let device), .exchange(let device), .die(let device, _),
            .backUp(let device), .restore(let device, _), .copy(let device, _), .purgeHistory(let device),
            .upgrade(let device), .setClock(let device, _), .trouble(let device, _), .lose(let device):
            device
        case .wait: nil
        }
    }
}
