/// The words of which common passwords consist. The list is our own: words for secrets, names, months, days, teams,
/// animals and the like, in the languages that lists of leaked passwords name most often.
enum CommonWords {
    /// The words, in lower case.
    static let all = text.split(whereSeparator: \.isWhitespace).map(String.init)

    private static let text = """
        abc abcd access account admin administrator alexander alexandra amanda amazon america amor and andrea andrew
        android angel anna anthony anything apple april are arsenal asdf asdfgh ashley asshole august australia
        autumn awesome azerty baby babygirl banana barcelona baseball basketball batman bayern bear beautiful beer
        berlin bestfriend bienvenue big bitch black blessed blue bonjour boss brasil brother buddy bunny business
        butterfly canada candy cash cat change changeit changeme charlie cheese chelsea cherry chicken children china
        chocolate christ christian ciao coffee college company computer contraseña cookie cool corvette cowboys crazy
        daddy daisy dance daniel darling database david december default demo demon deutschland devil dezember
        diamond dienstag dog dollar dolphin donnerstag dragon dummy eagle eight email england example facebook faith
        family father februar february ferrari first five flower flowers football for forest forever four france
        freedom freitag friday friend friends fruhling fuck fuckoff fuckyou funny garden geheim george germany ghost
        ginger god gold golden golf google green groceries grocery guest guitar hallo hamburger hannah happy harley
        haslo heaven hello herbst heslo hiphop hockey hola home honda honey honeybee hope horse house hunter iloveyou
        india internet iphone is januar january japan jasmine jennifer jessica jesus jetaime jordan joshua juli julia
        july june juni justin juventus kennwort killer king kitten kitty lakers laptop laura legend letmein liberty
        liebe lily linux lion lisa list little liverpool login logon london losenord love lovely loveme lover loveyou
        lucky madrid magic mai mail mama march maria market markus martin marz master matrix matthew may me mega
        mercedes merlin metal mexico michael michelle microsoft minecraft mittwoch mommy monday money monkey montag
        moon motdepasse mother mountain music mustang my naruto network new newyork nicole nine ninja none not
        nothing november null ocean october office oktober old one online open opensesame orange our panda papa paris
        parola pass passphrase passwd password passwort peace peach pepper peter phoenix piano pikachu pink pirate
        pizza platinum pokemon pony porsche power prince princess private puppy purple queen qwerty qwertz rabbit
        rainbow red rich river robert rock rockstar root rose sabrina samantha sample samstag samsung samurai sandra
        saturday schatz school second secret senha september server service sesame seven sexy shadow shark shit shop
        shopping silver sister six sky smile soccer something sommer sonntag sophie spiderman spring star stars
        startrek starwars steelers stefan store student sugar summer sun sunday sunflower sunshine super superman
        sweetheart sweety system teacher teamo temp temporary ten tennis test tester testing that the this thomas
        three thursday tiger toyota trustno trustnoone tuesday twitter two ultra unicorn university user vodka
        wachtwoord warrior web website wednesday welcome whatever whiskey white william willkommen windows winter
        with wizard wolf work xyz yamaha yankees yellow you your youtube zero zxcv zxcvbn
        """
}
