import Foundation

extension UndoManager {
    func openGroup() {
        openGroups.append(UndoGroup())
        post(.NSUndoManagerDidOpenUndoGroup)
    }

    /// Opens the implicit group if it is not open: the event's, or the one that records undo and redo.
    func openImplicitGroup() {
        if openGroups.isEmpty {
            guard operation != nil || groupsByEvent else { return }
            if operation == nil { hasEventGroup = true }
            openGroup()
            closeEventGroupLater()
        } else if hasEventGroup, !closesLater {
            closeEventGroupLater()
        }
    }

    func closeGroup() {
        guard let group = openGroups.last else { return }
        post(.NSUndoManagerCheckpoint)
        post(.NSUndoManagerWillCloseUndoGroup, isDiscardable: group.isDiscardable)
        // Observers may have closed or removed it.
        guard openGroups.last === group else { return }
        openGroups.removeLast()
        if openGroups.isEmpty, operation == nil { hasEventGroup = false }
        if !group.isEmpty { keep(group) }
        post(.NSUndoManagerDidCloseUndoGroup, isDiscardable: group.isDiscardable)
    }

    /// Adds a closed group to its parent or list.
    func keep(_ group: UndoGroup) {
        if let outer = openGroups.last {
            outer.append(group)
        } else if operation == .undo {
            redoSteps.append(group)
            trim()
        } else if operation == .redo, let outer = suspendedGroups.last {
            outer.append(group)
        } else {
            undoSteps.append(group)
            trim()
        }
    }

    /// Forgets the oldest steps if there are more than ``levelsOfUndo``.
    func trim() {
        guard levelsOfUndo > 0 else { return }
        // Released after the lists are consistent again: a deinitialiser that runs then may call this undo manager.
        let all = (undoSteps, redoSteps)
        if all.0.count > levelsOfUndo { undoSteps = all.0.suffix(levelsOfUndo) }
        if all.1.count > levelsOfUndo { redoSteps = all.1.suffix(levelsOfUndo) }
        withExtendedLifetime(all) {}
    }

    // MARK: Events

    /// Closes the event's group, unless the program has a group open in it.
    func endEvent() {
        guard hasEventGroup, operation == nil, openGroups.count == 1 else { return }
        endUndoGrouping()
    }

    /// Closes the event's group at the end of a turn of the main queue; if a run loop turns, only in its modes.
    func endTurn() {
        if let mode = RunLoop.current.currentMode, !runLoopModes.contains(mode), !runLoopModes.contains(.common) {
            return
        }
        endEvent()
    }

    /// Makes the run loop close the event's group at the end of the turn, and the main queue if it is served without a
    /// run loop; each once.
    func closeEventGroupLater() {
        guard hasEventGroup, operation == nil, followsRunLoop else { return }
        closeEventGroupOnMainQueue()
        let loop = RunLoop.current
        // The loop of a thread other than the main one may never run: the requests would only accumulate.
        guard !closesLater || closingLoop !== loop, Thread.isMainThread || loop.currentMode != nil else { return }
        closesLater = true
        closingLoop = loop
        // Safe because the loop performs on the thread that is here now; a later thread's loop takes its place.
        nonisolated(unsafe) weak let weakly = self
        loop.perform(inModes: runLoopModes) {
            guard let manager = weakly, manager.closingLoop === RunLoop.current else { return }
            manager.closesLater = false
            manager.closingLoop = nil
            manager.endEvent()
        }
    }

    /// `dispatchMain()` and the main actor serve the main queue without a run loop.
    private func closeEventGroupOnMainQueue() {
        guard !closesOnMainQueue, Confinement.isMain else { return }
        closesOnMainQueue = true
        // Safe because the main queue runs on the thread that uses the undo manager.
        nonisolated(unsafe) weak let weakly = self
        DispatchQueue.main.async {
            guard let manager = weakly else { return }
            manager.closesOnMainQueue = false
            manager.endTurn()
        }
    }

    // MARK: Registering

    /// Registers a context's changes of an event: in the open group, or as a step of its own if no group is open.
    func registerEvent<Target: AnyObject>(of target: Target, handler: @escaping (Target) -> Void) {
        guard isUndoRegistrationEnabled else { return }
        let isAlone = openGroups.isEmpty && operation == nil && !groupsByEvent
        if isAlone { beginUndoGrouping() }
        registerUndo(withTarget: target, handler: handler)
        if isAlone { endUndoGrouping() }
    }

    /// The groups that a name applies to: the open groups, or the last step if none is open.
    var namedGroups: [UndoGroup] {
        guard isUndoRegistrationEnabled else { return [] }
        openImplicitGroup()
        return openGroups.isEmpty ? undoSteps.suffix(1) : openGroups
    }

    // MARK: Telling

    func post(_ name: NSNotification.Name, isDiscardable: Bool = false) {
        NotificationCenter.default.post(
            name: name, object: self,
            userInfo: isDiscardable ? [NSUndoManagerGroupIsDiscardableKey: NSNumber(value: true)] : nil)
    }

    static func stop(_ reason: String) -> Never {
        preconditionFailure("UndoManager is in invalid state, \(reason).")
    }
}
