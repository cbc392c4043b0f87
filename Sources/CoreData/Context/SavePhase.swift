/// What a save does at the moment, which decides what the code that it calls back may do with the context.
///
/// ```
///  none ──▶ preparing ──▶ writing ──▶ notifying ──▶ none
///            hooks,        rows,       didSave,
///            validation    policies*   notifications
/// ```
/// | Called back | `save()` | `reset()` | `rollback()`, `refresh`, `undo()` | changes |
/// | --- | --- | --- | --- | --- |
/// | preparing | throws 132001 | at once | at once | are saved |
/// | writing | throws 132001 | when the save has ended | logged, nothing happens | are pending afterwards |
/// | notifying | saves them | at once | at once | are pending afterwards |
///
/// *A merge policy changes objects: while it runs the save prepares.
enum SavePhase {
    case none
    case preparing
    case writing
    case notifying
}

extension NSManagedObjectContext {
    /// Whether a save runs.
    final var isSaving: Bool { saveState.phase != .none }

    /// The number of saves inside each other's notifications: a hook that changes something and saves has no end.
    private static let mostSavesInProgress = 16

    /// Begins a save.
    ///
    /// - Throws: 132001 inside another save of the context that has not been written.
    final func beginSave() throws {
        guard saveState.phase == .none || saveState.phase == .notifying, saveState.depth < Self.mostSavesInProgress
        else {
            throw CoreDataErrors.recursiveSave(contextName)
        }
        saveState.depth += 1
        saveState.phase = .preparing
    }

    /// Ends a save, also one that failed.
    final func endSave() {
        saveState.depth -= 1
        saveState.phase = saveState.depth == 0 ? .none : .notifying
        guard saveState.resetsAtEnd, saveState.depth == 0 else { return }
        saveState.resetsAtEnd = false
        reset()
    }

    /// Runs the body as the part of a save in which objects must not change.
    final func writing<R>(_ body: () throws -> R) rethrows -> R {
        let phase = saveState.phase
        saveState.phase = .writing
        defer { saveState.phase = phase }
        return try body()
    }

    /// Whether an operation is refused because it would change objects that a save is writing. The log names the
    /// operation.
    @inline(__always)
    final func isRefusedWhileWriting(_ operation: StaticString) -> Bool {
        saveState.phase == .writing && isRefused(operation)
    }

    @inline(never)
    private final func isRefused(_ operation: StaticString) -> Bool {
        CoreDataLog.general.error(
            "\(operation) of context \(contextName) did nothing: it was called while a save of the context writes its objects. Call it when the save has ended."
        )
        return true
    }
}
