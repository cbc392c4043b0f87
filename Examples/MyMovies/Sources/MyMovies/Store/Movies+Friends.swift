import CoreData
import Foundation
import LivePages

/// Why a friend cannot be deleted: movies are lent to them.
struct DeniedDeletion: Error {
    let name: String
    /// By title.
    let movies: [(number: Int, title: String)]
}

/// A field of a friend's page.
enum FriendField: String, FormField {
    case name, email

    var label: String { self == .name ? "Name" : "Email" }
}

extension FieldForm where Field == FriendField {
    /// What a friend has now.
    @MainActor init(_ friend: Friend) {
        self.init(values: [.name: friend.friendName ?? "", .email: friend.email ?? ""])
    }

    /// What is wrong with what was typed, by field.
    func problems() -> [FriendField: String] {
        var problems: [FriendField: String] = [:]
        let (name, email) = (value(.name).trimmed, value(.email).trimmed)
        if name.isEmpty { problems[.name] = "Type a name." }
        if name.isLonger(than: Movies.longestName) { problems[.name] = "That is too long: at most 100 characters." }
        let parts = email.split(separator: "@", omittingEmptySubsequences: false)
        if !email.isEmpty, parts.count != 2 || parts.contains("") || email.contains(where: \.isWhitespace) {
            problems[.email] = "Type an address such as name@example.com, or nothing."
        }
        if email.count > 254 { problems[.email] = "That is too long: at most 254 characters." }
        return problems
    }
}

extension Movies {
    /// Makes a friend of the form, which has no problems.
    func add(_ form: FieldForm<FriendField>) throws -> (friend: Friend, step: Int?) {
        let done = try perform("Add \(form.value(.name).trimmed)") {
            let friend = Friend(context: view)
            set(form, of: friend)
            try view.obtainPermanentIDs(for: [friend])
            return friend
        }
        return (done.result, done.step)
    }

    /// Saves what the form changed.
    func update(_ friend: Friend, _ form: FieldForm<FriendField>) throws -> Int? {
        var changed = form
        changed.takeUntouched(from: FieldForm(friend))
        return try perform("Change \(friend.name)") { set(changed, of: friend) }.step
    }

    private func set(_ form: FieldForm<FriendField>, of friend: Friend) {
        let (name, email) = (form.value(.name).trimmed, form.value(.email).trimmed)
        if friend.friendName != name { friend.friendName = name }
        if friend.email ?? "" != email { friend.email = email.isEmpty ? nil : email }
    }

    /// Deletes the friend.
    ///
    /// - Throws: ``DeniedDeletion`` where movies are lent to them: the model's delete rule is Deny.
    func delete(_ friend: Friend) throws -> Int? {
        do { try friend.validateForDelete() } catch let error as CocoaError
            where error.code.rawValue == NSValidationRelationshipDeniedDeleteError
        {
            throw DeniedDeletion(name: friend.name, movies: friend.movies.map { ($0.number, $0.cellTitle) })
        }
        return try perform("Delete \(friend.name)") { view.delete(friend) }.step
    }
}
