import CoreData
import CoreDataSyncEngine
import Foundation

/// The exchanged values of an entity by how capture treats them, found out once.
final class EntityReader {
    let values: StoredValues
    let entity: SyncEntity
    let names: [String]
    /// The numbers of attributes of which the last writer wins.
    let plain: [Int]
    /// The numbers of attributes that merge otherwise.
    let merging: [(number: Int, kind: AttributeKind, rule: MergeRule)]
    let toOnes: [Int]
    /// The positions of these objects in ordered relationships of others.
    let orderings: [Ordering]
    /// The ordered relationships of these objects whose members have positions.
    let ordered: [String]
    /// The ordered relationships of these objects whose pairs the other side has.
    let orderedInverses: Set<String>
    /// Whether an object's state is complete once the object was read.
    let isSimple: Bool
    /// Digests of which all are unknown.
    let emptyDigests: ValueDigests
    /// The state of a new object without pairs and merging values: the same for all.
    let newState: ObjectState
    /// The stamp of new objects, and the device that has their contributions to sums.
    let stamp: Stamp
    let device: DeviceID
    /// Whether new objects are captured by their rows.
    let readsRows: Bool
    /// Whether each value is a to-one reference.
    let columns: [Bool]
    /// The names' numbers in the segment that is being made.
    var segmentColumns: (segment: UInt64, columns: SegmentWriter.Columns)?
    /// What the store has for transformable attributes, by primary key.
    private var bytes: [Int64: [String: Data]] = [:]
    private var knownPrefix: [UInt8]?

    struct Ordering {
        let name: String
        let owner: String
        let relationship: String
        let toOne: String
        let toOneNumber: Int
    }

    init(_ values: StoredValues, _ rules: SyncRules, _ stamp: Stamp, _ device: DeviceID) {
        let entity = values.entity
        (self.stamp, self.device) = (stamp, device)
        self.values = values
        self.entity = entity
        names = entity.values.map(\.name)
        toOnes = values.toOnes
        var plain: [Int] = []
        var merging: [(number: Int, kind: AttributeKind, rule: MergeRule)] = []
        var orderings: [Ordering] = []
        for (number, property) in entity.values.enumerated() {
            switch property.kind {
            case .attribute(_, .last): plain.append(number)
            case .attribute(let kind, let rule): merging.append((number, kind, rule))
            case .ordering(let owner, let relationship, let toOne):
                orderings.append(
                    Ordering(
                        name: property.name, owner: owner, relationship: relationship, toOne: toOne,
                        toOneNumber: values.number(of: toOne) ?? -1))
            default: break
            }
        }
        (self.plain, self.merging, self.orderings) = (plain, merging, orderings)
        var ordered: Set<String> = []
        var inverses: Set<String> = []
        for other in rules.entities.values {
            for property in other.properties {
                switch property.kind {
                case .ordering(let owner, let relationship, _) where entity.lineage.contains(owner):
                    ordered.insert(relationship)
                case .pairs(let destination, _, let inverse?, true) where entity.lineage.contains(destination):
                    inverses.insert(inverse)
                default: break
                }
            }
        }
        self.ordered = ordered.sorted()
        orderedInverses = inverses
        isSimple =
            orderings.isEmpty && ordered.isEmpty
            && !entity.pairs.contains { if case .pairs(_, _, _, true) = $0.kind { true } else { false } }
        readsRows = isSimple && merging.isEmpty && entity.pairs.isEmpty && !names.isEmpty
        let isToOne = Set(values.toOnes)
        columns = entity.values.indices.map { isToOne.contains($0) }
        emptyDigests = ValueDigests(entity)
        var state = ObjectState(id: GlobalID(high: 0, low: 0), entity: .init(entity.name, stamp))
        (state.born, state.created) = (stamp, stamp)
        for number in plain + values.toOnes { state.properties[entity.values[number].name] = .last(stamp, .stored) }
        newState = state
    }

    /// What the sidecar's entry of a new object has before the digests.
    func entryPrefix(_ sidecar: Sidecar) -> [UInt8] {
        if let knownPrefix { return knownPrefix }
        let made = EncodedEntry.prefix(sidecar.encoded(newState), entity)
        knownPrefix = made
        return made
    }

    /// The value of an attribute, as the store has it.
    @inline(__always)
    func value(_ number: Int, of object: NSManagedObject) throws -> SyncValue {
        if !bytes.isEmpty, let data = bytes[object.objectID.key]?[names[number]] { return .data(data) }
        return try values.value(number, of: object)
    }

    // MARK: Bytes of transformables

    /// Reads the bytes of transformable attributes in one statement: archiving a value again need not give the same
    /// bytes.
    func readBytes(_ objects: [NSManagedObject], _ run: CaptureRun) throws {
        bytes = [:]
        let columns = values.transformables.map { names[$0] }
        guard !columns.isEmpty, !objects.isEmpty else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.includesSubentities = false
        request.affectedStores = [run.capture.store]
        request.predicate = NSPredicate(format: "SELF IN %@", objects.map(\.objectID))
        request.propertiesToFetch = ["objectID"] + columns
        for row in try run.context.fetch(request, as: BytesRow.self) { bytes[row.key] = row.values }
    }
}

private struct BytesRow: Decodable {
    let key: Int64
    let values: [String: Data]

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let row = try decoder.container(keyedBy: Name.self)
        let id = try row.decode(PersistentID<NSManagedObject>.self, forKey: Name(stringValue: "objectID"))
        key = Int64(id.uriRepresentation.lastPathComponent.dropFirst()) ?? 0
        var values: [String: Data] = [:]
        for name in row.allKeys where name.stringValue != "objectID" {
            values[name.stringValue] = try row.decode(Data.self, forKey: name)
        }
        self.values = values
    }
}
