/// An object by identity, as a key.
struct ObjectReference: Hashable {
    let object: NSManagedObject

    init(_ object: NSManagedObject) { self.object = object }

    static func == (a: ObjectReference, b: ObjectReference) -> Bool { a.object === b.object }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
}
