import CoreDataSync

extension SyncState {
    /// Whether an exchange runs.
    var isBusy: Bool {
        switch activity {
        case .capturing, .sending, .receiving, .applying: true
        case .stopped, .idle, .failed: false
        }
    }
}
