import Foundation

extension Set where Element: NSManagedObject {
    /// Makes a set of the members of a to-many relationship, as Swift does on Apple's platforms where a function is
    /// wanted that takes an `NSSet`.
    ///
    ///     folder.notes.flatMap(Set<Note>.init) ?? []      // notes: NSSet?
    ///
    /// - Precondition: each member is of the set's type.
    public init(_immutableCocoaSet set: NSSet) {
        self.init(minimumCapacity: set.count)
        for member in set {
            guard let element = member as? Element else {
                preconditionFailure("\(member) is no \(Element.self).")
            }
            insert(element)
        }
    }
}
