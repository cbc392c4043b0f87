import CoreData
import Foundation
import SwiftData
import Testing

/// A union of relationships with every delete rule, counts, and inverses that nobody or one side names.
enum Club {
    @Model final class Team {
        var name: String
        @Relationship(deleteRule: .cascade) var badges: [Badge] = []
        @Relationship(deleteRule: .nullify) var fans: [Fan] = []
        @Relationship(deleteRule: .deny) var games: [Game] = []
        @Relationship(deleteRule: .noAction) var sponsor: Sponsor?
        @Relationship(minimumModelCount: 1, maximumModelCount: 2) var captains: [Captain] = []
        init(name: String, captains: [Captain] = [Captain()]) {
            self.name = name
            self.captains = captains
        }
    }

    @Model final class Badge {
        var team: Team?
        init() {}
    }

    @Model final class Fan {
        var team: Team?
        /// Two of one class: none is the other side of `Fan.idolOf`.
        var friend: Fan?
        var idol: Fan?
        var idolOf: [Fan] = []
        init() {}
    }

    @Model final class Game {
        var team: Team?
        init() {}
    }

    @Model final class Sponsor {
        var name = "Acme"
        var team: Team?
        init() {}
    }

    @Model final class Captain {
        var team: Team?
        init() {}
    }

    static func context() throws -> ModelContext {
        ModelContext(try ModelContainer(for: Team.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    }
}

@Suite struct RelationshipRuleTests {
    private func team(_ context: ModelContext) throws -> Club.Team {
        let team = Club.Team(name: "Reds")
        context.insert(team)
        team.badges = [Club.Badge(), Club.Badge()]
        team.fans = [Club.Fan()]
        team.sponsor = Club.Sponsor()
        try context.save()
        return team
    }

    /// B11: cascade, nullify, and no action; who is left with a reference to nothing reads nil.
    @Test func deletingAppliesEachRule() throws {
        let context = try Club.context()
        let team = try team(context)
        let (fan, sponsor) = (try #require(team.fans.first), try #require(team.sponsor))
        context.delete(team)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Club.Badge>()) == 0)
        #expect(fan.team == nil && fan.modelContext === context)
        let again = ModelContext(context.container)
        let found = try #require(again.model(for: sponsor.persistentModelID) as? Club.Sponsor)
        #expect(found.name == "Acme")
        #expect(found.team.map { $0.name } ?? "" == "")
    }

    /// B11: deny; the save that throws changes nothing, and says which relationship refuses.
    @Test func aDeniedDeletionIsAnErrorOfTheSave() throws {
        let context = try Club.context()
        let team = try team(context)
        let game = Club.Game()
        team.games = [game]
        try context.save()
        context.delete(team)
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error == .modelValidationFailure && error?.description.contains("games") == true)
        context.rollback()
        #expect(!team.isDeleted && team.games.count == 1 && team.badges.count == 2)
        context.delete(game)
        context.delete(team)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Club.Team>()) == 0)
    }

    /// B12: the numbers of members are looked at by the save, and by nobody before.
    @Test(arguments: [(0, false), (1, true), (2, true), (3, false)])
    func numbersOfMembersAreCheckedBySaves(count: Int, isAllowed: Bool) throws {
        let context = try Club.context()
        let team = Club.Team(name: "Reds", captains: (0..<count).map { _ in Club.Captain() })
        context.insert(team)
        #expect(team.captains.count == count)
        guard !isAllowed else { return try context.save() }
        let error = #expect(throws: SwiftDataError.self) { try context.save() }
        #expect(error == .modelValidationFailure && error?.description.contains("captains") == true)
        team.captains = [Club.Captain()]
        try context.save()
    }

    /// B6, complaint 16: what nobody names is paired where there is one candidate, and works from either side; of several none is taken.
    @Test func inversesThatNobodyNamesAreKept() throws {
        let context = try Club.context()
        let (team, badge) = (Club.Team(name: "Reds"), Club.Badge())
        context.insert(team)
        badge.team = team
        #expect(team.badges.map(ObjectIdentifier.init) == [ObjectIdentifier(badge)])
        team.badges = []
        #expect(badge.team == nil)
        let (fan, idol) = (Club.Fan(), Club.Fan())
        context.insert(fan)
        context.insert(idol)
        fan.friend = idol
        #expect(idol.friend == nil && idol.idol == nil && idol.idolOf.isEmpty)
        fan.idolOf = [idol]
        #expect(idol.friend == nil && idol.idol == nil)
        try context.save()
        let again = try #require(ModelContext(context.container).model(for: fan.persistentModelID) as? Club.Fan)
        #expect(again.friend?.persistentModelID == idol.persistentModelID)
        #expect(again.idolOf.map(\.persistentModelID) == [idol.persistentModelID])
    }

    /// B7: no member is lost by changes of several owners that are saved together, from either side.
    @Test func manyToManyKeepsItsMembers() throws {
        let (container, context) = try kitchen()
        let dishes = (0..<4).map { Dish(name: "dish \($0)") }
        let labels = (0..<3).map { DishLabel(title: "label \($0)") }
        for dish in dishes { context.insert(dish) }
        for (index, dish) in dishes.enumerated() { dish.labels = [labels[index % 3]] }
        try context.save()
        for dish in dishes where !dish.labels.contains(labels[2]) { dish.labels.append(labels[2]) }
        labels[0].dishes.append(dishes[1])
        try context.save()
        let other = ModelContext(container)
        let found = try other.fetch(FetchDescriptor<Dish>(sortBy: [SortDescriptor(\.name)]))
        #expect(
            found.map { $0.labels.map(\.title).sorted() } == [
                ["label 0", "label 2"], ["label 0", "label 1", "label 2"], ["label 2"], ["label 0", "label 2"],
            ])
        for label in try other.fetch(FetchDescriptor<DishLabel>()) {
            #expect(Set(label.dishes.map(\.name)) == Set(found.filter { $0.labels.contains(label) }.map(\.name)))
        }
    }

    /// B10, complaint 20: counting members and adding one is one statement, and realises none of them.
    @Test func countingAndAddingRealisesNoMember() throws {
        let (container, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        dish.steps = (0..<30).map { DishStep(text: "step \($0)") }
        try context.save()
        let other = ModelContext(container)
        let found = try #require(other.model(for: dish.persistentModelID) as? Dish)
        #expect(found.steps.count == 30)
        found.steps.append(DishStep(text: "last"))
        #expect(found.steps.count == 31)
        let faults = found.steps.compactMap(\.modelObject).filter(\.isFault)
        #expect(faults.count == 30)
        try other.save()
        #expect(found.steps.last?.text == "last")
    }
}
