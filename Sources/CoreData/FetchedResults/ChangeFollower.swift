import Foundation

/// An observer of every event of a context. It receives more than the notifications contain, for example rows that
/// another context changed and whose objects this context does not have.
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
