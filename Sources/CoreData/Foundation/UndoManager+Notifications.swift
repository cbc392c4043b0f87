import Foundation

/// The order of closing an event's group among the work of a run loop at the end of a turn.
///
/// Differs from Apple: run loops here work in order of arrival, so nothing can be placed before or after it.
public let NSUndoCloseGroupingRunLoopOrdering = 350_000

/// Of an undo manager's notifications about a group: `true` where everything in the group may be thrown away.
///
///     let isDiscardable = notification.userInfo?[NSUndoManagerGroupIsDiscardableKey] as? Bool ?? false
public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"

extension NSNotification.Name {
    /// An undo manager opens a nested group, closes a group, undoes, redoes or is asked for ``UndoManager/canRedo``:
    /// observers can register pending changes; object: the undo manager.
    public static let NSUndoManagerCheckpoint = NSNotification.Name("NSUndoManagerCheckpointNotification")
    /// An undo manager opened a group; object: the undo manager.
    public static let NSUndoManagerDidOpenUndoGroup = NSNotification.Name("NSUndoManagerDidOpenUndoGroupNotification")
    /// An undo manager is about to close a group; object: the undo manager, user info:
    /// `NSUndoManagerGroupIsDiscardableKey` if the group is discardable.
    public static let NSUndoManagerWillCloseUndoGroup = NSNotification.Name(
        "NSUndoManagerWillCloseUndoGroupNotification")
    /// An undo manager closed a group; object: the undo manager, user info: as for `NSUndoManagerWillCloseUndoGroup`.
    public static let NSUndoManagerDidCloseUndoGroup = NSNotification.Name("NSUndoManagerDidCloseUndoGroupNotification")
    /// An undo manager is about to undo; object: the undo manager.
    public static let NSUndoManagerWillUndoChange = NSNotification.Name("NSUndoManagerWillUndoChangeNotification")
    /// An undo manager undid a step; object: the undo manager, user info: `NSUndoManagerGroupIsDiscardableKey` if the
    /// group was discardable.
    public static let NSUndoManagerDidUndoChange = NSNotification.Name("NSUndoManagerDidUndoChangeNotification")
    /// An undo manager is about to redo; object: the undo manager.
    public static let NSUndoManagerWillRedoChange = NSNotification.Name("NSUndoManagerWillRedoChangeNotification")
    /// An undo manager redid a step; object: the undo manager, user info: the same as for `NSUndoManagerDidUndoChange`.
    public static let NSUndoManagerDidRedoChange = NSNotification.Name("NSUndoManagerDidRedoChangeNotification")
}
