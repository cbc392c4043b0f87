import Foundation

/// Records how to undo changes, and undoes them.
///
///     func rename(_ city: City, to name: String) {
///         let old = city.name
///         city.name = name
///         undoManager.registerUndo(withTarget: self) { $0.rename(city, to: old) }
///         undoManager.setActionName("Rename")
///     }
///     undoManager.undo()      // the old name; the handler registered how to redo
///     undoManager.redo()      // the new name
///
/// All registrations in one turn of the run loop are one step. Without a run loop, a step ends when ``undo()`` is
/// called. For steps of your own, turn ``groupsByEvent`` off and use ``beginUndoGrouping()`` and ``endUndoGrouping()``.
///
/// An undo manager belongs to the thread, queue or actor that uses it.
///
/// Differs from Apple: there is no Objective-C runtime, so `registerUndo(withTarget:selector:object:)` and
/// `prepare(withInvocationTarget:)` do not exist. The class belongs to no actor, while Apple's newest SDKs isolate it
/// to the main actor: contexts with private queues have undo managers, too.
open class UndoManager: NSObject {
    /// A name for something that is kept with a step.
    public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
        /// The key as text.
        public let rawValue: String

        /// A key of that text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A key of that text.
        public init(_ rawValue: String) { self.rawValue = rawValue }
    }

    enum Operation {
        case undo
        case redo
    }

    /// The steps, oldest first.
    final var undoSteps: [UndoGroup] = []
    final var redoSteps: [UndoGroup] = []
    /// The groups that registrations are added to, outermost first. While undoing and redoing, those of the recording.
    final var openGroups: [UndoGroup] = []
    /// The groups that were open when undoing or redoing began.
    final var suspendedGroups: [UndoGroup] = []
    final var operation: Operation?
    /// The actions that undo or redo must still call.
    final var performed: UndoGroup?
    /// Whether the step that is being undone or redone is discardable.
    final var performsDiscardable = false
    private var disabledCount = 0
    /// Whether the outermost open group is the event's.
    final var hasEventGroup = false
    /// Whether a run loop was asked to close the event's group, and which.
    final var closesLater = false
    final weak var closingLoop: RunLoop?
    /// Whether the main queue was asked to close it.
    final var closesOnMainQueue = false
    /// Whether events are turns of the run loop. If not, ``endEvent()`` is called at the end of an event: a context
    /// with a private queue does so, because the main thread's run loop may turn while the queue works.
    final var followsRunLoop = true

    /// Whether the first registration of an event opens a group that closes at the end of the event, on at first.
    ///
    /// An event is a turn of the run loop of the thread that registers.
    open var groupsByEvent = true

    /// The maximum number of steps, of which the newest are kept; 0, the default, for all.
    open var levelsOfUndo = 0 {
        didSet { trim() }
    }

    /// The modes in which a turn of the run loop closes the event's group.
    open var runLoopModes: [RunLoop.Mode] = [.default]

    public override init() { super.init() }

    // MARK: Groups

    /// Opens a group: all registrations until ``endUndoGrouping()`` are undone together.
    ///
    /// If groups follow events and none is open, the event's group is opened first, and this one in it.
    open func beginUndoGrouping() {
        openImplicitGroup()
        if !openGroups.isEmpty { post(.NSUndoManagerCheckpoint) }
        openGroup()
    }

    /// Closes the group that was opened last; an empty one leaves nothing behind.
    ///
    /// Without an open group, the program stops.
    open func endUndoGrouping() {
        guard openGroups.count > (operation == nil ? 0 : 1) else {
            Self.stop("endUndoGrouping called with no matching begin")
        }
        closeGroup()
        closeEventGroupLater()
    }

    /// The number of open groups, one inside the other; while undoing and redoing, of those that record.
    open var groupingLevel: Int { openGroups.count }

    // MARK: Registering

    /// Ignores registrations until ``enableUndoRegistration()`` was called the same number of times.
    open func disableUndoRegistration() { disabledCount += 1 }

    /// Ends what ``disableUndoRegistration()`` began; without it, the program stops.
    open func enableUndoRegistration() {
        guard disabledCount > 0 else {
            Self.stop("enableUndoRegistration may only be invoked with matching call to disableUndoRegistration")
        }
        disabledCount -= 1
    }

    /// Whether registrations are recorded.
    open var isUndoRegistrationEnabled: Bool { disabledCount == 0 }

    /// Records a handler that undoes a change. The target is not retained: after it was deallocated, the handler is not
    /// called.
    ///
    /// While undoing, the handler is recorded for redo. Otherwise nothing can be redone any more, unless this is a
    /// redo. If groups do not follow events and none is open, the program stops.
    public func registerUndo<TargetType: AnyObject>(
        withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) {
        guard isUndoRegistrationEnabled else { return }
        openImplicitGroup()
        guard let group = openGroups.last else { Self.stop("must begin a group before registering undo") }
        let action = TargetedUndoAction(target, handler: handler)
        action.isDiscardable = performsDiscardable
        group.append(action)
        guard operation == nil, !redoSteps.isEmpty else { return }
        // Released after the list is consistent again: a deinitialiser that runs then may call this undo manager.
        let gone = redoSteps
        redoSteps = []
        withExtendedLifetime(gone) {}
    }

    /// Forgets everything, including open groups, and enables registration again.
    ///
    /// Called in a handler, it also forgets what has not been undone yet, and the recording group is empty.
    open func removeAllActions() {
        let gone = (undoSteps, redoSteps, openGroups, suspendedGroups, performed?.removeAll())
        undoSteps = []
        redoSteps = []
        suspendedGroups = []
        openGroups = operation == nil || openGroups.isEmpty ? [] : [UndoGroup()]
        hasEventGroup = false
        disabledCount = 0
        withExtendedLifetime(gone) {}
    }

    /// Forgets all registrations with the target, and steps that had no others. Groups stay open, and registration
    /// stays disabled if it is.
    open func removeAllActions(withTarget target: Any) {
        let target = ObjectIdentifier(target as AnyObject)
        var removed: [UndoGroup.Item] = []
        undoSteps.remove(actionsOf: target, into: &removed)
        redoSteps.remove(actionsOf: target, into: &removed)
        for group in openGroups + suspendedGroups { group.remove(actionsOf: target, into: &removed) }
        performed?.remove(actionsOf: target, into: &removed)
        withExtendedLifetime(removed) {}
    }

    // MARK: Undo and redo

    /// Takes the last step back, after closing its group if that is open.
    ///
    /// With a group open in another one the program stops, and so it does in a handler that undoes or redoes.
    open func undo() {
        refuseInHandlers("undo")
        guard openGroups.count < 2 else { Self.stop("undo was called with too many nested undo groups") }
        if !openGroups.isEmpty { endUndoGrouping() }
        undoNestedGroup()
    }

    /// Undoes the last closed group, which is a step or a part of the open group. All of it is one step to redo.
    ///
    /// If the open group has newer registrations, the program stops: close the group first.
    open func undoNestedGroup() {
        refuseInHandlers("undoNestedGroup")
        let hadNone = openGroups.isEmpty
        post(.NSUndoManagerCheckpoint)
        // What observers registered now is the last step.
        if hadNone { endEvent() }
        if let group = openGroups.last(where: { !$0.isEmpty }) {
            guard group.endsWithGroup else { Self.stop("undoNestedGroup was called before endUndoGrouping") }
        } else if undoSteps.isEmpty {
            return
        }
        perform(.undo)
    }

    /// Redoes the last undone step, if there were no registrations since. All of it is one step to undo.
    ///
    /// In a handler of undo or redo, the program stops.
    open func redo() {
        refuseInHandlers("redo")
        post(.NSUndoManagerCheckpoint)
        endEvent()
        guard !redoSteps.isEmpty else { return }
        perform(.redo)
    }

    /// Whether there is something to undo, in an open group too.
    open var canUndo: Bool { nextUndo != nil }

    /// Whether there is a step to redo. First lets observers register pending changes, which may end that.
    open var canRedo: Bool {
        post(.NSUndoManagerCheckpoint)
        return nextRedo != nil
    }

    /// How many steps there are to undo, the open one included.
    open var undoCount: Int { undoSteps.count + (openUndoGroups.contains { !$0.isEmpty } ? 1 : 0) }

    /// How many steps there are to redo.
    open var redoCount: Int { redoSteps.count + (openRedoGroups.contains { !$0.isEmpty } ? 1 : 0) }

    /// Whether this is a handler of ``undo()`` or ``undoNestedGroup()``.
    open var isUndoing: Bool { operation == .undo }

    /// Whether this is a handler of ``redo()``.
    open var isRedoing: Bool { operation == .redo }

    // MARK: What is said of a step

    /// Names the step: that of the open groups, or the last one. An empty name removes the name.
    ///
    /// While registration is disabled, nothing is named. If groups follow events and none is open, the event's group is
    /// opened, so that later registrations of the event get the name.
    open func setActionName(_ actionName: String) { for group in namedGroups { group.name = actionName } }

    /// The name of the step that ``undo()`` would undo; empty if there is none.
    open var undoActionName: String { nextUndo?.name ?? "" }

    /// The name of the step that ``redo()`` would redo; empty if there is none.
    open var redoActionName: String { nextRedo?.name ?? "" }

    /// The menu title for undo: "Undo Rename".
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

    /// The menu title for redo: "Redo Rename".
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// Returns the menu title for undoing a step of that name, in English unless overridden.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// Returns the menu title for redoing a step of that name, in English unless overridden.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    /// Stores a value with the step, as ``setActionName(_:)`` stores its name; `nil` removes it.
    open func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) {
        for group in namedGroups { group.userInfo[key] = info }
    }

    /// Returns the value stored with the step that ``undo()`` would undo.
    open func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { nextUndo?.userInfo[key] }

    /// Returns the value stored with the step that ``redo()`` would redo.
    open func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { nextRedo?.userInfo[key] }

    /// Sets whether the last registration may be discarded if a document cannot be saved; for example, because it
    /// changed only the display. If no group is open, applies to the last step.
    open func setActionIsDiscardable(_ discardable: Bool) {
        guard isUndoRegistrationEnabled else { return }
        if let group = openGroups.last(where: { !$0.isEmpty }) {
            group.setDiscardable(discardable, onlyLast: true)
        } else if openGroups.isEmpty {
            undoSteps.last?.setDiscardable(discardable)
        }
    }

    /// Whether the whole step that ``undo()`` would undo may be discarded.
    open var undoActionIsDiscardable: Bool { nextUndo?.isDiscardable ?? false }

    /// Whether all of the step that ``redo()`` would do again may be thrown away.
    open var redoActionIsDiscardable: Bool { nextRedo?.isDiscardable ?? false }
}
