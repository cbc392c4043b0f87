import Foundation

extension SortDescriptorMaking where Self: NSSortDescriptor {
    /// Creates a sort descriptor that stores support from one of Swift's.
    ///
    ///     request.sortDescriptors = [NSSortDescriptor(SortDescriptor(\Book.title, order: .reverse))]
    ///     // ORDER BY t0.ZTITLE DESC
    ///
    /// Differs from Apple: `SortDescriptor` has one order of texts here, which is `compare:`; on Apple's platforms the
    /// default is `localizedStandardCompare:`. For an order that people see, use
    /// `NSSortDescriptor(key:ascending:selector:)`.
    public init<Compared: NSObject>(_ sortDescriptor: SortDescriptor<Compared>) {
        guard let keyPath = sortDescriptor.keyPath else {
            preconditionFailure(
                "A SortDescriptor without a key path, such as one of a comparator, has no NSSortDescriptor.")
        }
        self.init(
            keyedBy: KeyPathNames.name(for: keyPath), ascending: sortDescriptor.order == .forward, .order(.literal),
            keyPath: keyPath)
    }

    /// Makes a sort descriptor that a store can follow from one of Swift's.
    ///
    /// - Throws: an error for one without a key path, such as one of a comparator, and for a key path that is no
    ///   property.
    ///
    /// Not in Apple's API.
    public init<Compared: NSObject>(validating sortDescriptor: SortDescriptor<Compared>) throws {
        guard let keyPath = sortDescriptor.keyPath else {
            throw CoreDataErrors.invalidRequest(
                "A SortDescriptor<\(Compared.self)> without a key path, such as one of a comparator, cannot sort in a store."
            )
        }
        guard let key = KeyPathNames.name(for: keyPath) else {
            throw CoreDataErrors.invalidRequest(
                "A SortDescriptor<\(Compared.self)> of \(keyPath) cannot sort in a store: that is no property of a model."
            )
        }
        self.init(
            keyedBy: key, ascending: sortDescriptor.order == .forward, .order(.literal), keyPath: keyPath)
    }
}
