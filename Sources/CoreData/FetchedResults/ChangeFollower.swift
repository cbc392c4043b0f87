import Foundation

/// Somebody who is told of every event of a context, more than its notifications tell: of rows, too, that another context changed
/// and whose objects the context does not have.
protocol ChangeFollower: AnyObject {
    func contextDidChange(_ event: ChangeEvent)
    /// New objects have their permanent IDs.
    func contextDidSave()
    /// The context has forgotten every object.
    func contextDidReset()
}

/// The followers of a context, none of whom it keeps alive.
struct ChangeFollowers {
    private struct Reference {
        weak var follower: (any ChangeFollower)?
    }

    private var references: [Reference] = []

    var isEmpty: Bool { references.isEmpty }

    mutating func add(_ follower: any ChangeFollower) {
        references.removeAll { $0.follower == nil || $0.follower === follower }
        references.append(Reference(follower: follower))
    }

    func forEach(_ body: (any ChangeFollower) -> Void) {
        for reference in references { if let follower = reference.follower { body(follower) } }
    }
}
