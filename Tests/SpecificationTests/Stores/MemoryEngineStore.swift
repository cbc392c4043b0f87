import CoreDataStore

extension SpecifiedStore {
    /// Rows in memory, in plain Swift.
    static let memory = SpecifiedStore(
        name: "rows in memory",
        make: { model in
            let engine = try MemoryEngine(model: model)
            return OpenedStore(source: engine, remove: { engine.close() })
        },
        lacks: [
            .formerStates: noFormerState, .reopening: "what is in memory ends when it is closed",
        ], predicateSeeds: 3)
}
