import CoreDataStore

extension SpecifiedStore {
    /// Rows in a binary file of our own format.
    static let binary = SpecifiedStore(
        name: "Binary", make: { try make(BinaryStoreFormat.self, $0) },
        lacks: [.formerStates: noFormerState])
}
