import CoreDataSQL

// What an SQL store can do beside reading and saving; ``BatchSource`` and the copying protocols are in rooms of their own.
extension StoreEngine: ExplainingSource, DeferringSource {}

extension StoreEngine: ObservableSource {
    package func addObserver(_ observer: any SQLObserver) { database.addObserver(observer) }
    package func removeObserver(_ observer: any SQLObserver) { database.removeObserver(observer) }
}

extension StoreEngine: MovableSource {
    package var isInFile: Bool { path != nil }
}
