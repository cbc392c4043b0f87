import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Finds the key of a Swift key path by applying the path to an object that records the keys that are read.
///
///     \Note.folder?.name      // reads "folder" of a note, gets a folder, reads "name" of that: "folder.name"
///
/// For Swift, accessors are computed properties, so a key path does not contain their names. The probe is an object of
/// the path's class that is in no context. Its properties return marked values instead of stored ones. If the result is
/// not the mark, the property only computes a value from a key and has no name itself.
enum KeyPathProbe {
    /// The reads of one application of a path; its probes share it.
    private final class Recording {
        var keys: [String] = []
        /// Whom the next question must go to for the path to be a chain.
        var next: ObjectIdentifier?
        var lastType: Any.Type = Void.self
        var isChain = true
        /// Distinguishes the values of one run from those of another.
        let mark: Int
        /// The type of the path's value.
        let wanted: Any.Type
        /// The result of key-value coding, if its type does not show that the path ends with it.
        var given: AnyObject?

        init(mark: Int, wanted: Any.Type) {
            self.mark = mark
            self.wanted = wanted
        }
    }

    private static let maximumSteps = 32

    /// Returns a probe's recording; `nil` for other objects. No lock is held while accessors of the program run: each
    /// application has its own probes.
    private static func recording(of object: NSManagedObject) -> Recording? {
        object.runtime === runtime ? object.extras?.probe as? Recording : nil
    }

    // MARK: Asking

    /// Returns the key, or keys joined by dots; `nil` if the path does not end with a property of a managed object.
    static func name(of keyPath: AnyKeyPath) -> String? {
        guard let root = type(of: keyPath).rootType as? NSManagedObject.Type, root != NSManagedObject.self,
            runtime != nil
        else { return nil }
        guard let first = answer(keyPath, root, mark: 0), let second = answer(keyPath, root, mark: 1),
            first.name == second.name, isDistinct(first, second)
        else { return nil }
        return first.name
    }

    private struct Answer {
        let name: String
        let value: Any?
        let type: Any.Type
    }

    private static func answer(_ keyPath: AnyKeyPath, _ root: NSManagedObject.Type, mark: Int) -> Answer? {
        let wanted = unwrapped(type(of: keyPath).valueType)
        let recording = Recording(mark: mark, wanted: wanted)
        guard let object = makeProbe(root, recording) else { return nil }
        recording.next = ObjectIdentifier(object)
        // A probe has the recording, and must not be kept by it.
        defer { recording.given = nil }
        let value = (object as Any)[keyPath: keyPath]
        guard recording.isChain, !recording.keys.isEmpty, isGiven(value, recording.given) else { return nil }
        if wanted is any TypedObjectID.Type, unwrapped(recording.lastType) is NSManagedObject.Type {
            return Answer(
                name: (recording.keys + ["objectID"]).joined(separator: "."), value: nil, type: recording.lastType)
        }
        guard unwrapped(recording.lastType) == wanted else { return nil }
        return Answer(name: recording.keys.joined(separator: "."), value: value, type: recording.lastType)
    }

    /// Whether the values differ as the marks that were given out do.
    private static func isDistinct(_ first: Answer, _ second: Answer) -> Bool {
        let type = unwrapped(first.type)
        guard let one = mark(of: 0, for: type), let other = mark(of: 1, for: type),
            let expected = TypedValue.any(of: one, as: type), let otherExpected = TypedValue.any(of: other, as: type)
        else { return true }
        return (first.value as? AnyHashable) == expected && (second.value as? AnyHashable) == otherExpected
    }

    /// Whether the value is the object or the collection that was answered by key-value coding, if any was.
    private static func isGiven(_ value: Any?, _ given: AnyObject?) -> Bool {
        guard let given else { return true }
        guard let value else { return false }
        return (given as? NSObject)?.isEqual(value) ?? (value as AnyObject === given)
    }

    private static func unwrapped(_ type: Any.Type) -> Any.Type {
        (type as? any OptionalValue.Type)?.wrappedType ?? type
    }

    // MARK: Answering

    /// Notes that a probe is asked for a key, and prepares the answer in the slot that is returned.
    static func slot<Value>(of key: PropertyKey<Value>, in object: NSManagedObject) -> Int? {
        guard let runtime, let recording = recording(of: object) else { return nil }
        recording.keys.append(key.name)
        recording.lastType = Value.self
        recording.isChain = recording.isChain && recording.next == ObjectIdentifier(object)
        let type = unwrapped(Value.self)
        if let target = type as? NSManagedObject.Type {
            let slot = runtime.slot(forKey: Property.target) ?? 0
            // A property that walks up a tree must come to an end.
            let destination = recording.keys.count < maximumSteps ? makeProbe(target, recording) : nil
            object.assignToOne(destination, slot)
            if let destination { recording.next = ObjectIdentifier(destination) }
            return slot
        }
        let isCollection = type is NSSet.Type || type is any ManagedCollection.Type
        if isCollection { return runtime.slot(forKey: Property.targets) }
        if type is NSOrderedSet.Type { return runtime.slot(forKey: Property.orderedTargets) }
        let slot = runtime.slot(forKey: Property.value) ?? 0
        object.liveValues()[slot] = mark(of: recording.mark, for: type) ?? .null
        return slot
    }

    /// A value of the type that no other run gives; `nil` for types that have no such value.
    private static func mark(of run: Int, for type: Any.Type) -> Value? {
        switch type {
        case is String.Type: .string("Probe \(run + 1)")
        case is Int16.Type, is Int32.Type, is Int64.Type, is Int.Type: .integer(Int64(run) + 7)
        case is Bool.Type: .integer(Int64(run))
        case is Double.Type, is Float.Type: .double(Double(run) + 7)
        case is Date.Type: .date(Double(run) + 7)
        case is Data.Type: .data(Data([UInt8(run) + 7]))
        case is UUID.Type: .uuid(UUID(uuid: (UInt8(run), 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        case is URL.Type: .uri("probe:\(run)")
        case is Decimal.Type: .decimal(Decimal(run + 7))
        default: nil
        }
    }

    /// Returns the value for a probe that is read by key-value coding, as accessors that are written by hand do; `nil`
    /// if the object is no probe.
    ///
    ///     var name: String? { value(forKey: "name") as? String }
    ///
    /// The type of a key in the middle of a path is not known: only the last one is answered.
    static func value(forKey key: String, in object: NSManagedObject) -> Any?? {
        guard let recording = recording(of: object) else { return .none }
        recording.keys.append(key)
        recording.lastType = recording.wanted
        recording.isChain =
            recording.isChain && recording.next == ObjectIdentifier(object) && recording.keys.count < maximumSteps
        if let target = recording.wanted as? NSManagedObject.Type {
            recording.given = recording.isChain ? makeProbe(target, recording) : nil
            return .some(recording.given)
        }
        if let collection = recording.wanted as? any KeyValueCollection.Type {
            let members = (0...recording.mark).compactMap { _ in makeProbe(collection.memberType, recording) }
            recording.given = collection.collection(of: members)
            return .some(recording.given)
        }
        guard let mark = mark(of: recording.mark, for: recording.wanted) else {
            recording.isChain = false
            return .some(nil)
        }
        return .some(TypedValue.any(of: mark, as: recording.wanted)?.base)
    }

    // MARK: Probes

    /// No class has properties of these names.
    private enum Property {
        static let value = "keyPathProbeValue"
        static let target = "keyPathProbeTarget"
        static let targets = "keyPathProbeTargets"
        static let orderedTargets = "keyPathProbeOrderedTargets"
    }

    /// The entity of probes: one property for each way of keeping a value.
    static let runtime: EntityRuntime? = {
        let entity = NSEntityDescription()
        entity.name = "KeyPathProbe"
        let value = NSAttributeDescription()
        value.name = Property.value
        value.attributeType = .transformableAttributeType
        value.isOptional = true
        entity.properties =
            [value]
            + [(Property.target, 1, false), (Property.targets, 0, false), (Property.orderedTargets, 0, true)].map {
                name, maximum, isOrdered in
                let relationship = NSRelationshipDescription()
                relationship.name = name
                relationship.maxCount = maximum
                relationship.isOrdered = isOrdered
                relationship.isOptional = true
                relationship.destinationEntity = entity
                return relationship
            }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return try? ModelRuntime(model).entity(named: "KeyPathProbe")
    }()

    private static func makeProbe(_ type: NSManagedObject.Type, _ recording: Recording) -> NSManagedObject? {
        runtime.map { runtime in
            let probe = NSManagedObject.makeFault(ObjectHome(outside: runtime), 0, type: type)
            // There is nothing to read.
            probe.flags = .new
            probe.madeExtras().probe = recording
            return probe
        }
    }
}

/// What key-value coding gives for to-manys.
private protocol KeyValueCollection {
    static var memberType: NSManagedObject.Type { get }
    static func collection(of members: [NSManagedObject]) -> AnyObject
}

extension KeyValueCollection {
    static var memberType: NSManagedObject.Type { NSManagedObject.self }
    static func collection(of members: [NSManagedObject]) -> AnyObject { NSSet(array: members) }
}

extension Set: KeyValueCollection where Element: NSManagedObject {
    static var memberType: NSManagedObject.Type { Element.self }
}

extension NSSet: KeyValueCollection {}

extension NSOrderedSet: KeyValueCollection {
    static func collection(of members: [NSManagedObject]) -> AnyObject { NSOrderedSet(array: members) }
}

/// Set and array of managed objects.
private protocol ManagedCollection {}

extension Set: ManagedCollection where Element: NSManagedObject {}
extension Array: ManagedCollection where Element: NSManagedObject {}

extension TypedValue {
    /// Returns the value that an accessor of that type makes of a mark.
    fileprivate static func any(of mark: Value, as type: Any.Type) -> AnyHashable? {
        switch mark {
        case .string(let text): text
        case .integer(let number):
            switch type {
            case is Int16.Type: Int16(number)
            case is Int32.Type: Int32(number)
            case is Int.Type: Int(number)
            case is Bool.Type: number != 0
            default: number
            }
        case .double(let number): type is Float.Type ? AnyHashable(Float(number)) : AnyHashable(number)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .uri(let text): URL(string: text)
        case .decimal(let decimal): decimal
        case .null, .opaque: nil
        }
    }
}
