import CoreData
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Addresses with numbers: of objects of their own entity, of another one, of none.
@Suite(.timeLimit(.minutes(2))) struct AddressTests {
    /// What has a number in its address, by the entity whose number it is.
    private static let pages = [
        ("Item", "/items"), ("Unit", "/units"), ("LocationAtHome", "/home-locations"),
        ("LocationAtShop", "/shop-locations"),
    ]

    @MainActor private func numbers(_ app: App, _ entity: String) throws -> Set<Int> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        return Set(try app.groceries.view.fetch(request).map(\.number))
    }

    /// Home and shop locations inherit from one entity and share its numbers.
    @Test(arguments: pages) func aNumberOfAnotherEntityIsNotFound(_ entity: String, _ path: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let own = try await numbers(server.app, entity)
            #expect(!own.isEmpty && own.isSubset(of: 1...5))
            #expect(try await browser.wrongPages(1...6, below: path, own: own) == [])
            #expect(try await browser.pagesThatExist(BadNumbers.texts.map { "\(path)/\($0)" }) == [])
        }
    }

    @Test func aPictureOfNothingIsNotFound() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let pictures = BadNumbers.texts(and: 1...6).flatMap { ["/items/\($0)/photo", "/items/\($0)/thumbnail"] }
            #expect(try await browser.pagesThatExist(pictures) == [])
        }
    }

    @Test(arguments: pages) func aFormForAnotherEntityChangesNothing(_ entity: String, _ path: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let own = try await numbers(server.app, entity)
            let before = try await browser.get("/prepare").words
            let forms = BadNumbers.texts(and: 1...6, without: own).flatMap { number in
                ["", "/delete", "/photo"].map { "\(path)/\(number)\($0)" }
            }
            let fields = ["name": "Changed", "remove": "1"]
            #expect(try await browser.wrongAnswers(to: forms, fields, expecting: [303, 400, 404, 410]) == [])
            for number in BadNumbers.texts(and: 4...5) {
                for address in ["/prepare", "/shop"] {
                    #expect(try await browser.post(address, ["i": number]).status == 303)
                }
            }
            #expect(try await numbers(server.app, entity) == own)
            // Without the message of the last form.
            _ = try await browser.get("/prepare")
            #expect(try await browser.get("/prepare").words == before)
        }
    }

    @Test func aPickerTakesNoNumberOfAnotherEntity() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let shop = try #require(try await numbers(server.app, "LocationAtShop").min())
            let home = try #require(try await numbers(server.app, "LocationAtHome").min())
            let form = ["name": "Oats", "quantity": "1", "home": "\(shop)", "shop": "\(home)", "unit": "99"]
            #expect(try await browser.submit("/items", form).words.contains("Oats is added."))
            #expect(try await browser.get("/prepare").words.contains("Anywhere at home 1 Oats"))
        }
    }

    @Test func whatWasDeletedIsNotFound() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let milk = try await server.app.groceries.number(of: "Milk")
            #expect(try await browser.get("/items/\(milk)").status == 200)
            #expect(try await browser.post("/items/\(milk)/delete").status == 303)
            for path in ["/items/\(milk)", "/items/\(milk)/photo", "/items/\(milk)/thumbnail"] {
                #expect(try await browser.get(path).status == 404, "\(path)")
            }
            #expect(try await browser.post("/items/\(milk)/delete").status == 303)
            #expect(try await browser.post("/items/\(milk)", ["name": "Milk"]).status == 410)
        }
    }
}
