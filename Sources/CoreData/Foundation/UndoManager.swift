import Foundation

/// Keeps how to take changes back, and takes them back.
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
/// What is registered in one turn of the run loop is one step. Where no run loop runs, a step ends when ``undo()`` is
/// called; turn ``groupsByEvent`` off and use ``beginUndoGrouping()`` and ``endUndoGrouping()`` for steps of your own.
///
/// An undo manager belongs to the thread, queue or actor that uses it.
///
/// Differs from Apple: there is no Objective-C runtime, so `registerUndo(withTarget:selector:object:)` and
/// `prepare(withInvocationTarget:)` do not exist. The class belongs to no actor, where Apple's newest SDKs give it to the
/// main one: contexts with queues of their own have undo managers too.
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
    /// The groups that registrations go to, outermost first. While undoing and redoing, those of what is being recorded.
    final var openGroups: [UndoGroup] = []
    /// The groups that were open when undoing or redoing began.
    final var suspendedGroups: [UndoGroup] = []
    final var operation: Operation?
    /// What is being undone or redone: the actions that are still to be called.
    final var performed: UndoGroup?
    /// Whether what is being undone or redone may be thrown away.
    final var performsDiscardable = false
    private var disabledCount = 0
    /// Whether the outermost open group is the event's.
    final var hasEventGroup = false
    /// Whether a run loop was asked to close the event's group, and which.
    final var closesLater = false
    final weak var closingLoop: RunLoop?
    /// Whether the main queue was asked to close it.
    final var closesOnMainQueue = false
    /// Whether events are turns of the run loop. Where they are not, ``endEvent()`` is called at the end of one: a context
    /// with a queue of its own does so, because the main thread's run loop may turn while the queue is at work.
    final var followsRunLoop = true

    /// Whether the first registration of an event opens a group that closes at the end of the event, on at first.
    ///
    /// An event is a turn of the run loop of the thread that registers.
    open var groupsByEvent = true

    /// How many steps are kept, the newest; 0, as it is at first, for all.
    open var levelsOfUndo = 0 {
        didSet { trim() }
    }

    /// The modes in which a turn of the run loop closes the event's group.
    open var runLoopModes: [RunLoop.Mode] = [.default]

    public override init() { super.init() }

    // MARK: Groups

    /// Opens a group: what is registered until ``endUndoGrouping()`` is taken back together.
    ///
    /// Where groups follow events and none is open, the event's group is opened first, and this one in it.
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

    /// How many groups are open, one in the other; while undoing and redoing, of those that record it.
    open var groupingLevel: Int { openGroups.count }

    // MARK: Registering

    /// Keeps nothing of what is registered until ``enableUndoRegistration()`` was called as often.
    open func disableUndoRegistration() { disabledCount += 1 }

    /// Ends what ``disableUndoRegistration()`` began; without it, the program stops.
    open func enableUndoRegistration() {
        guard disabledCount > 0 else {
            Self.stop("enableUndoRegistration may only be invoked with matching call to disableUndoRegistration")
        }
        disabledCount -= 1
    }

    /// Whether what is registered is kept.
    open var isUndoRegistrationEnabled: Bool { disabledCount == 0 }

    /// Keeps a handler that takes a change back. The target is not kept: when it is gone, the handler is not called.
    ///
    /// While undoing, it is kept for redo. Otherwise nothing can be redone any more, unless this is a redo. Where groups do
    /// not follow events and none is open, the program stops.
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
        // Let go of when the list is in order again: what goes with an action may call this undo manager.
        let gone = redoSteps
        redoSteps = []
        withExtendedLifetime(gone) {}
    }

    /// Forgets everything, open groups too, and turns registration on again.
    ///
    /// In a handler, what has not been undone yet is forgotten as well, and the group that records is empty.
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

    /// Forgets what was registered with the target, and the steps that had nothing else. Groups stay open, and registration
    /// stays off where it is.
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

    /// Takes the last closed group back, be it a step or a part of the group that is open. All of it is one step to redo.
    ///
    /// Where something was registered in the open group since, the program stops: close the group first.
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

    /// Does again what was undone last, if nothing was registered since. All of it is one step to undo.
    ///
    /// In a handler that undoes or redoes, the program stops.
    open func redo() {
        refuseInHandlers("redo")
        post(.NSUndoManagerCheckpoint)
        endEvent()
        guard !redoSteps.isEmpty else { return }
        perform(.redo)
    }

    /// Whether there is something to undo, in an open group too.
    open var canUndo: Bool { nextUndo != nil }

    /// Whether there is something to redo. Asks first for what is to be registered, which might put an end to that.
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

    /// Names the step: that of the open groups, or the last one. An empty name takes the name away.
    ///
    /// While registration is off, nothing is named. Where groups follow events and none is open, the event's is opened, so
    /// that what the event registers later has the name.
    open func setActionName(_ actionName: String) { for group in namedGroups { group.name = actionName } }

    /// The name of the step that ``undo()`` would take back; empty where there is none.
    open var undoActionName: String { nextUndo?.name ?? "" }

    /// The name of the step that ``redo()`` would do again; empty where there is none.
    open var redoActionName: String { nextRedo?.name ?? "" }

    /// What a menu says for undo: "Undo Rename".
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

    /// What a menu says for redo: "Redo Rename".
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// What a menu says for undoing a step of that name, in English unless overridden.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// What a menu says for redoing a step of that name, in English unless overridden.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    /// Keeps something with the step, as ``setActionName(_:)`` keeps its name; `nil` takes it away.
    open func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) {
        for group in namedGroups { group.userInfo[key] = info }
    }

    /// What is kept with the step that ``undo()`` would take back.
    open func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { nextUndo?.userInfo[key] }

    /// What is kept with the step that ``redo()`` would do again.
    open func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { nextRedo?.userInfo[key] }

    /// Says whether what was registered last may be thrown away where a document cannot be saved: it changed only what is
    /// seen, for example. Where no group is open, says it of the last step.
    open func setActionIsDiscardable(_ discardable: Bool) {
        guard isUndoRegistrationEnabled else { return }
        if let group = openGroups.last(where: { !$0.isEmpty }) {
            group.setDiscardable(discardable, onlyLast: true)
        } else if openGroups.isEmpty {
            undoSteps.last?.setDiscardable(discardable)
        }
    }

    /// Whether all of the step that ``undo()`` would take back may be thrown away.
    open var undoActionIsDiscardable: Bool { nextUndo?.isDiscardable ?? false }

    /// Whether all of the step that ``redo()`` would do again may be thrown away.
    open var redoActionIsDiscardable: Bool { nextRedo?.isDiscardable ?? false }
}
