import CoreData
import Foundation

/// Waits for another process that is writing to the store, while pages are read.
enum BusyStore {
    /// The other process wrote for longer than the retries last; nothing was changed.
    struct Failure: Error {}

    /// How long it is waited for.
    static let patience = Duration.seconds(10)
    /// How long a statement waits, and with it all that is done on the main actor, in milliseconds.
    static let statementTimeout = "250"
    /// How long others have between two attempts.
    static let pause = Duration.milliseconds(100)

    /// Whether something failed since another process is writing to the store.
    static func isBusy(_ error: any Error) -> Bool {
        error is Failure || (error as? CocoaError)?.code.rawValue == NSPersistentStoreTimeoutError
    }

    /// Does it, and again as long as another process is writing.
    ///
    /// - Parameter isPossible: whether it can be done again.
    @MainActor static func retrying<Result>(
        _ body: @MainActor () async throws -> Result, while isPossible: @MainActor () -> Bool = { true }
    ) async throws -> Result {
        let end = ContinuousClock.now + patience
        while true {
            do { return try await body() } catch let error
                where isBusy(error) && ContinuousClock.now < end && isPossible()
            {
                try await Task.sleep(for: pause)
            }
        }
    }
}
