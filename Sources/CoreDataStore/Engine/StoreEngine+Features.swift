import CoreDataSQL

// The additional capabilities of an SQL store; batches, copies and deferred tasks are in higher rooms.
extension StoreEngine: ExplainingSource {}

extension StoreEngine: MemberKeySource {}

extension StoreEngine: SecuredSource {}

extension StoreEngine: ObservableSource {
    package func addObserver(_ observer: any SQLObserver) { database.addObserver(observer) }
    package func removeObserver(_ observer: any SQLObserver) { database.removeObserver(observer) }
}

extension StoreEngine: MovableSource {
    package var isInFile: Bool { path != nil }
}
