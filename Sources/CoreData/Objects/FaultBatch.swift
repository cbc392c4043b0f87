import CoreDataPrimitives

/// Objects that one fetch made as faults without values: reading one of them also reads its neighbours.
final class FaultBatch {
    let size: Int
    /// In the order of the fetch; weak by way of the context, since keys are enough to find them.
    let keys: [RowKey]

    init(keys: [RowKey], size: Int) {
        self.keys = keys
        self.size = size
    }

    /// The keys of the batch in which that position lies.
    func neighbours(of position: Int) -> ArraySlice<RowKey> {
        let start = position / size * size
        return keys[start..<min(start + size, keys.count)]
    }
}

/// The position of an object among those that a fetch made together.
struct BatchPlace {
    let batch: FaultBatch
    let position: Int

    var neighbours: ArraySlice<RowKey> { batch.neighbours(of: position) }
}
