import CoreDataStore

extension SpecifiedStore {
    /// Rows in memory, in plain Swift.
    static let memory = SpecifiedStore(
        name: "rows in memory",
        make: { model in
            let engine = try MemoryEngine(model: model)
            return OpenedStore(source: engine, remove: { engine.close() })
        },
        exceptions: [
            "aPinnedContextKeepsWhatItReads": noFormerState,
            "everythingIsThereAfterReopening": "what is in memory ends when it is closed",
            "aStoreForReadingRefusesToSave": "what is in memory is made empty, so nothing could be read",
        ], predicateSeeds: 3)
}
