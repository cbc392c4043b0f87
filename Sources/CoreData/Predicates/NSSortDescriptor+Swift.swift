import Foundation

extension SortDescriptorMaking where Self: NSSortDescriptor {
    /// Makes a sort descriptor that a store can follow from one of Swift's.
    ///
    ///     request.sortDescriptors = [NSSortDescriptor(SortDescriptor(\Book.title, order: .reverse))]
    ///     // ORDER BY t0.ZTITLE DESC
    ///
    /// Differs from Apple: `SortDescriptor` knows one order of texts here, which is `compare:`; on Apple's platforms it is
    /// `localizedStandardCompare:` unless told otherwise. Where the order is for people's eyes, use
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
}
