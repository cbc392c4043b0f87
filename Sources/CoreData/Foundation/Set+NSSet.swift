import Foundation

extension Set where Element: NSManagedObject {
    /// Creates a set of the members of a to-many relationship. On Apple's platforms Swift does this if a function with
    /// an `NSSet` parameter is needed.
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
