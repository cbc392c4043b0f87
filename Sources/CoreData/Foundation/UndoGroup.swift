/// Something that an undo manager can call to take a change back.
class UndoAction {
    /// The address of the action's target: a target that is being deallocated can only be compared.
    final let target: ObjectIdentifier
    final var isDiscardable = false

    init(target: ObjectIdentifier) { self.target = target }

    func perform() {}
}

/// An action that calls a handler with its target, which it does not retain.
///
/// The only allocation of a registration besides the handler itself.
final class TargetedUndoAction<Target: AnyObject>: UndoAction {
    private weak var object: Target?
    private let handler: (Target) -> Void

    init(_ object: Target, handler: @escaping (Target) -> Void) {
        self.object = object
        self.handler = handler
        super.init(target: ObjectIdentifier(object))
    }

    override func perform() {
        guard let object else { return }
        handler(object)
    }
}

/// Actions that are taken back together, and the groups among them.
final class UndoGroup {
    enum Item {
        case action(UndoAction)
        case group(UndoGroup)
    }

    /// In the order of registration; a group in it is closed and not empty.
    private(set) var items: [Item] = []
    /// Bits of the targets, so that a group without a target's actions is passed over at a glance.
    private var targets: UInt64 = 0

    /// The name for the menu, `nil` where none was given.
    var name: String?
    var userInfo: [UndoManager.UserInfoKey: Any] = [:]

    var isEmpty: Bool { items.isEmpty }

    /// Whether everything in it may be thrown away.
    var isDiscardable: Bool {
        !items.isEmpty
            && items.allSatisfy {
                switch $0 {
                case .action(let action): action.isDiscardable
                case .group(let group): group.isDiscardable
                }
            }
    }

    /// Whether a group was the last to come in, not an action.
    var endsWithGroup: Bool {
        if case .group = items.last { true } else { false }
    }

    func append(_ action: UndoAction) {
        items.append(.action(action))
        targets |= Self.mark(of: action.target)
    }

    func append(_ group: UndoGroup) {
        items.append(.group(group))
        targets |= group.targets
    }

    /// Takes the group out that came in last.
    func popLastGroup() -> UndoGroup? {
        guard case .group(let group) = items.last else { return nil }
        items.removeLast()
        return group
    }

    /// Removes and returns the newest action, including those of inner groups.
    func popLastAction() -> UndoAction? {
        while let item = items.popLast() {
            switch item {
            case .action(let action): return action
            case .group(let group): items.append(contentsOf: group.items)
            }
        }
        return nil
    }

    /// Takes everything out.
    func removeAll() -> [Item] {
        let gone = items
        items = []
        targets = 0
        return gone
    }

    /// Says of every action, or of the newest item only, whether it may be thrown away.
    func setDiscardable(_ isDiscardable: Bool, onlyLast: Bool = false) {
        for item in onlyLast ? items.suffix(1) : items[...] {
            switch item {
            case .action(let action): action.isDiscardable = isDiscardable
            case .group(let group): group.setDiscardable(isDiscardable)
            }
        }
    }

    // MARK: Removing what a target registered

    private static func mark(of target: ObjectIdentifier) -> UInt64 {
        1 << ((UInt64(UInt(bitPattern: target)) &* 0x9E37_79B9_7F4A_7C15) >> 58)
    }

    /// Removes the target's actions, and inner groups that had no others.
    ///
    /// - Parameter removed: receives the removed items. The caller releases them after its lists are consistent again,
    ///   because a deinitialiser that runs then may call the undo manager.
    func remove(actionsOf target: ObjectIdentifier, into removed: inout [Item]) {
        guard targets & Self.mark(of: target) != 0 else { return }
        var kept: [Item] = []
        var keptTargets: UInt64 = 0
        for item in items {
            switch item {
            case .action(let action):
                guard action.target != target else {
                    removed.append(item)
                    continue
                }
                keptTargets |= Self.mark(of: action.target)
            case .group(let group):
                group.remove(actionsOf: target, into: &removed)
                guard !group.isEmpty else {
                    removed.append(item)
                    continue
                }
                keptTargets |= group.targets
            }
            kept.append(item)
        }
        items = kept
        targets = keptTargets
    }
}

extension [UndoGroup] {
    /// Takes the target's actions out of all groups, and the groups that had no others.
    mutating func remove(actionsOf target: ObjectIdentifier, into removed: inout [UndoGroup.Item]) {
        var kept = self
        var isShorter = false
        for group in self where !group.isEmpty {
            group.remove(actionsOf: target, into: &removed)
            if group.isEmpty { isShorter = true }
        }
        guard isShorter else { return }
        for group in self where group.isEmpty { removed.append(.group(group)) }
        kept.removeAll { $0.isEmpty }
        self = kept
    }
}
