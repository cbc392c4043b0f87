import Foundation
import SwiftData

// Actors in the shapes that apps write.

@ModelActor
actor ShapeStore {
    private var imported = 0

    func add(_ names: [String]) -> Int {
        let stops = names.map { ShapeStop(title: $0) }
        imported += stops.count
        return imported
    }
}

@ModelActor public actor ShapePublicStore {}

/// With an initializer and state of its own.
@ModelActor
actor ShapeOwnStore {
    private let name: String

    init(modelContainer: ModelContainer) {
        self.init(modelContainer: modelContainer, name: "store")
    }

    init(modelContainer: ModelContainer, name: String) {
        self.modelContainer = modelContainer
        modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(modelContainer))
        self.name = name
    }

    func named() -> String { name }
}

/// Without the macro.
actor ShapeHandStore: ModelActor {
    nonisolated let modelContainer: ModelContainer
    nonisolated let modelExecutor: any ModelExecutor

    init(modelContainer: ModelContainer, modelExecutor: any SerialModelExecutor) {
        self.modelContainer = modelContainer
        self.modelExecutor = modelExecutor
    }
}

extension ModelActor {
    /// What a protocol's users add to all model actors.
    func with<T: Sendable>(_ body: @Sendable (ModelContext) throws -> T) rethrows -> T { try body(modelContext) }
}
