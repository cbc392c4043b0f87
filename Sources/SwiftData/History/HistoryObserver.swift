import CoreData
import Foundation
import Observation
import Synchronization

/// Counts the transactions that a container's stores record: of this process and of others.
///
///     let observer = try HistoryObserver(observedModels: [Trip.self], authors: ["sync"], modelContainer: container)
///     withObservationTracking { _ = observer.eventCounter } onChange: { refresh() }
///
/// The counter changes on the actor that made the observer, on no particular thread without one.
///
/// Cost: nothing is polled; a commit reads what it recorded.
public final class HistoryObserver: Observable, Sendable {
    /// The classes whose changes count; empty for all.
    public let observedModels: [any PersistentModel.Type]
    /// The container whose stores are observed.
    public let modelContainer: ModelContainer

    private let authors: Set<String>
    private let registrar = ObservationRegistrar()
    private let counter = Mutex(0)
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - historyTokens: the positions at which to begin, by the stores' identifiers; `nil` begins with future
    ///     transactions.
    ///   - observedModels: the classes whose changes count; empty for all.
    ///   - authors: the authors whose transactions count; empty for all.
    /// - Throws: the error of a store whose history cannot be read, ``SwiftDataError/historyTokenExpired`` for a token
    ///   whose history was deleted.
    public init(
        historyTokens: [String: any HistoryToken]? = nil, observedModels: [any PersistentModel.Type] = [],
        authors: Set<String> = [], modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        self.observedModels = observedModels
        self.authors = authors
        self.modelContainer = modelContainer
        let history = StoreHistory(coordinator: modelContainer.coordinator, modelTypes: modelContainer.modelTypes)
        let token: DefaultHistoryToken
        if let historyTokens {
            let positions = historyTokens.values.compactMap { ($0 as? DefaultHistoryToken)?.positions }
            token = DefaultHistoryToken(
                positions.reduce(into: [:]) { $0.merge($1) { first, second in max(first, second) } })
            // An expired token is an error here; later there is no caller to throw it to.
            var missed = HistoryDescriptor<DefaultHistoryTransaction>()
            missed.predicate = #Predicate { $0.token > token }
            _ = try history.transactions(missed)
        } else {
            token = history.currentToken()
        }
        observe(after: token, on: isolation)
    }

    deinit { task.withLock { $0?.cancel() } }

    /// How many transactions counted. Observe it.
    public var eventCounter: Int {
        registrar.access(self, keyPath: \.eventCounter)
        return counter.withLock { $0 }
    }

    // MARK: Following

    private func observe(after token: DefaultHistoryToken, on actor: (any Actor)?) {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = modelContainer.coordinator
        let transactions = context.history(after: token.coreDataToken)
        let names = Set(observedModels.map { ModelLayout.of($0).entityName })
        let authors = authors
        let following = Task { [weak self] in
            do {
                for try await transaction in transactions {
                    guard Self.counts(transaction, names, authors) else { continue }
                    guard let self else { return }
                    await self.count(on: actor)
                }
            } catch {
                // Its history was deleted: count its transactions, which happened, too.
                await self?.count(on: actor)
            }
        }
        task.withLock { $0 = following }
    }

    private static func counts(
        _ transaction: NSPersistentHistoryTransaction, _ names: Set<String>, _ authors: Set<String>
    ) -> Bool {
        if !authors.isEmpty, !authors.contains(transaction.author ?? "") { return false }
        if names.isEmpty { return true }
        return (transaction.changes ?? []).contains { change in
            var entity: NSEntityDescription? = change.changedObjectID.entity
            while let current = entity {
                if names.contains(current.name ?? "") { return true }
                entity = current.superentity
            }
            return false
        }
    }

    /// Runs on the actor, so that its observers are notified there.
    private func count(on isolation: isolated (any Actor)?) async {
        registrar.withMutation(of: self, keyPath: \.eventCounter) { counter.withLock { $0 += 1 } }
    }
}
